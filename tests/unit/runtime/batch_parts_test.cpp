#include "runtime/batching/batch_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>

#include "alate/model.h"
#include "runtime/loading/loaded_model.h"
#include "tests/source_folder.h"

namespace alate::runtime {
namespace {

using Lengths = std::vector<std::int32_t>;
constexpr std::size_t kTokens = 128;

std::size_t tokens_of(const BatchPart& part) { return part.last_token - part.first_token; }

void expect_whole(const std::vector<BatchPart>& parts, const Lengths& lengths) {
  std::size_t sequence = 0, token = 0;
  for (const BatchPart& part : parts) {
    EXPECT_EQ(part.first, sequence);
    EXPECT_EQ(part.first_token, token);
    ASSERT_LT(part.first, part.last);
    for (; sequence < part.last; ++sequence) token += static_cast<std::size_t>(lengths[sequence]);
    EXPECT_EQ(part.last_token, token);
    EXPECT_GT(tokens_of(part), 0U);
  }
  EXPECT_EQ(sequence, lengths.size());
}

TEST(SplitBatch, PartsCoverTheBatchInOrderAndEachHasATokenWhateverTheLengths) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Lengths lengths(1 + random() % 200);
    for (std::int32_t& length : lengths) length = random() % 4 == 0 ? 0 : static_cast<std::int32_t>(random() % 300);
    lengths[random() % lengths.size()] = 1;  // a batch has a token
    for (const std::size_t workers : {1, 2, 7}) expect_whole(split_batch(lengths, workers, kTokens), lengths);
  }
}

TEST(SplitBatch, PartsOfManyTextsStayInTheCache) {
  const Lengths lengths(1000, 30);
  const std::vector<BatchPart> parts = split_batch(lengths, 2, kTokens);
  for (const BatchPart& part : parts) EXPECT_LE(tokens_of(part), 150U);
  EXPECT_GT(parts.size(), 30000U / 150);
}

TEST(SplitBatch, PartsAreAsLongAsTheBackendSays) {
  constexpr std::size_t more = 4 * kTokens;
  const std::vector<BatchPart> parts = split_batch(Lengths(1000, 30), 2, more);
  EXPECT_GT(tokens_of(parts.front()), more - 30);
  for (const BatchPart& part : parts) EXPECT_LE(tokens_of(part), more + 30);
}

TEST(SplitBatch, ALongTextIsAPartOfItsOwnAndKeepsNoThreadWaiting) {
  Lengths lengths(100, 30);
  lengths[50] = 500;
  const std::vector<BatchPart> parts = split_batch(lengths, 2, kTokens);
  const auto with_long =
      std::ranges::find_if(parts, [](const BatchPart& part) { return part.first <= 50 && 50 < part.last; });
  ASSERT_NE(with_long, parts.end());
  EXPECT_LE(tokens_of(*with_long), 500U + 48);
}

TEST(SplitBatch, WhatWouldLeaveThreadsIdleIsOnePart) {
  EXPECT_EQ(split_batch(Lengths{100}, 2, kTokens).size(), 1U);
  EXPECT_EQ(split_batch(Lengths{500, 10}, 2, kTokens).size(), 1U);
  EXPECT_EQ(split_batch(Lengths{60, 60, 60}, 2, kTokens).size(), 1U);
}

// A batch that goes through the model in parts gives each text the bits that it has alone.
TEST(SplitBatch, PartsGiveTheSameBits) {
  const Model model = Model::load(source_folder() / "tests/golden/models/st_mean", {.threads = 2});
  constexpr std::int64_t kTexts = 60;
  const auto places = static_cast<std::int64_t>(model.facts().max_positions);
  std::mt19937 random(3);
  Lengths lengths(kTexts);
  Tensor ids = Tensor::zeros({DType::i64, {kTexts, places}}), mask = Tensor::zeros({DType::i64, {kTexts, places}});
  const auto row_of = [&](Tensor& tensor, std::int64_t row) {
    return tensor.mutable_values<std::int64_t>().subspan(static_cast<std::size_t>(row * places),
                                                         static_cast<std::size_t>(places));
  };
  for (std::int64_t text = 0; text < kTexts; ++text) {
    const std::int64_t length = 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(places));
    lengths[static_cast<std::size_t>(text)] = static_cast<std::int32_t>(length);
    for (std::int64_t i = 0; i < length; ++i) {
      row_of(ids, text)[static_cast<std::size_t>(i)] = 1 + static_cast<std::int64_t>(random() % 40);
      row_of(mask, text)[static_cast<std::size_t>(i)] = 1;
    }
  }
  ASSERT_GT(split_batch(lengths, 2, kTokens).size(), 1U);
  const Tensor all = model.forward({{"input_ids", ids}, {"attention_mask", mask}}).at("last_hidden_state");
  const std::size_t width = model.facts().hidden_size;
  for (std::int64_t text = 0; text < kTexts; ++text) {
    const std::int64_t length = lengths[static_cast<std::size_t>(text)];
    const Tensor alone =
        model
            .forward({{"input_ids", Tensor::from<std::int64_t>(
                                        {1, length}, row_of(ids, text).first(static_cast<std::size_t>(length)))}})
            .at("last_hidden_state");
    const auto wanted = all.values<float>().subspan(static_cast<std::size_t>(text * places) * width,
                                                    static_cast<std::size_t>(length) * width);
    ASSERT_EQ(std::memcmp(alone.bytes().data(), wanted.data(), wanted.size_bytes()), 0) << "text " << text;
  }
}

// Says how many threads each run of it may have; its output is a number for each token.
class ThreadsTold : public backends::Executable {
 public:
  explicit ThreadsTold(std::vector<std::size_t>& told, std::mutex& mutex) : told_(told), mutex_(mutex) {}
  std::span<const backends::Port> inputs() const override { return {}; }
  std::span<const backends::Port> outputs() const override { return {&output_, 1}; }
  backends::ExecutableFacts facts() const override { return {}; }
  backends::BatchHint batch_hint() const override { return {.workers = 2}; }

 private:
  void compute(std::span<const backends::Buffer> inputs, std::span<backends::Buffer> outputs,
               const backends::RunOptions& options) override {
    outputs[0] = Tensor::zeros({DType::f32, {inputs[0].shape().dims[0], 1}});
    const std::lock_guard lock(mutex_);
    told_.push_back(options.max_workers);
  }

  backends::Port output_{"y", {DType::f32, {Dim::of_id(0), 1}}};
  std::vector<std::size_t>& told_;
  std::mutex& mutex_;
};

TEST(BatchParts, StayOnTheirThread) {
  std::vector<std::size_t> told;
  std::mutex mutex;
  Feeders feeders;
  feeders.push_back(feed_packed_tokens({.vocabulary = 10, .positions = 200, .types = 1, .hidden_size = 1}));
  graph::DimTable dims;
  models::EncoderInputs inputs;
  inputs.tokens = dims.named("tokens");
  const EntryPoint program(std::make_unique<ThreadsTold>(told, mutex), std::move(feeders), models::counted_dims(inputs),
                           dims);
  PackedTokens tokens;
  tokens.lengths.assign(8, 100);
  tokens.ids.assign(800, 1);
  program.run(tokens, {}, {.cancellation = base::Cancellation::never()});
  EXPECT_GT(told.size(), 1U);
  for (const std::size_t threads : told) EXPECT_EQ(threads, 1U);
  told.clear();
  tokens.lengths.assign(1, 100);
  tokens.ids.assign(100, 1);
  program.run(tokens, {}, {.cancellation = base::Cancellation::never()});
  EXPECT_EQ(told, std::vector<std::size_t>{0}) << "a text alone has all threads";
}

// One long text among many short ones, for a runtime that pads: without cuts that is 1,001 rows of 512.
TEST(PaddedParts, ComputeNotMuchMoreThanTheirTokens) {
  std::vector<std::int32_t> lengths(500, 1);
  lengths.push_back(512);
  lengths.insert(lengths.end(), 500, 2);
  for (int i = 0; i < 50; ++i) lengths.push_back(i % 2 == 0 ? 400 : 0);
  std::size_t next = 0, next_token = 0, padded = 0, tokens = 0;
  const std::vector<BatchPart> parts = split_padded(lengths);
  for (const BatchPart& part : parts) {
    EXPECT_EQ(part.first, next);
    EXPECT_EQ(part.first_token, next_token);
    std::size_t longest = 0, own = 0;
    for (std::size_t i = part.first; i < part.last; ++i) {
      longest = std::max(longest, static_cast<std::size_t>(lengths[i]));
      own += static_cast<std::size_t>(lengths[i]);
    }
    EXPECT_EQ(part.last_token - part.first_token, own);
    EXPECT_LE((part.last - part.first) * longest, 2 * own + 256);
    padded += (part.last - part.first) * longest;
    tokens += own;
    next = part.last;
    next_token = part.last_token;
  }
  EXPECT_EQ(next, lengths.size());
  EXPECT_LE(padded, 3 * tokens);
}

TEST(PaddedParts, ABatchOfLikeLengthsIsOne) {
  EXPECT_EQ(split_padded(std::vector<std::int32_t>{12, 9, 14, 8}).size(), 1u);
  EXPECT_EQ(split_padded(std::vector<std::int32_t>{512}).size(), 1u);
  EXPECT_TRUE(split_padded(std::vector<std::int32_t>{0, 0}).empty());
  EXPECT_TRUE(split_padded({}).empty());
}

}  // namespace
}  // namespace alate::runtime
