// A small decoder over a paged cache, on every backend that is here: however its prompts come in, it goes on with the
// same tokens, and on the cpu with the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "backends/registry.h"
#include "graph/builder.h"
#include "graph/operands.h"
#include "graph/projections.h"
#include "tests/unit/backends/page_tables.h"

namespace alate::backends {
namespace {

using graph::Builder;
using graph::Value;

constexpr std::int64_t kVocabulary = 29, kWidth = 16, kHeads = 4, kKvHeads = 2, kHeadSize = 8, kLayers = 2;
constexpr std::int64_t kPages = 12, kPageRows = 4, kMostPages = 6, kMostTokens = 16;
constexpr std::int64_t kSequences = 2;
constexpr std::size_t kCaches = 2 * kLayers;  // keys and values

class Weights {
 public:
  explicit Weights(Builder& b) : b_(b) {}
  Value next(const std::vector<std::int64_t>& extents) {
    std::uniform_real_distribution<float> between(-1, 1);
    graph::Dims dims(extents.begin(), extents.end());
    Tensor tensor = Tensor::zeros({DType::f32, dims});
    const float scale = 1.6F / std::sqrt(static_cast<float>(extents.back()));
    for (float& value : tensor.mutable_values<float>()) value = scale * between(random_);
    return b_.constant(std::move(tensor));
  }

 private:
  Builder& b_;
  std::mt19937 random_{7};
};

// Logits of each sequence's last token. Inputs: ids and what PageFeed has, then the caches, which are donated.
graph::Graph decoder(DType cache) {
  Builder b("decoder");
  Weights weights(b);
  const Dim tokens = b.dim("tokens", 1, kMostTokens), sequences = kSequences;
  const auto given = [&](const char* name, graph::Dims dims) {
    return b.parameter(name, {DType::i32, std::move(dims)});
  };
  const Value ids = given("ids", {tokens}), positions = given("positions", {tokens}), slots = given("slots", {tokens}),
              table = given("table", {sequences, kMostPages}), starts = given("starts", {sequences}),
              lengths = given("lengths", {sequences}), key_lengths = given("key lengths", {sequences});
  std::vector<Value> caches;
  for (std::size_t i = 0; i < kCaches; ++i) {
    caches.push_back(
        b.parameter("cache " + std::to_string(i), {cache, {kPages, kPageRows, kKvHeads, kHeadSize}}, true));
  }
  const graph::RopeTables angles = graph::rope_tables(kPages * kPageRows, kHeadSize, 100);
  const Value cosines = b.constant(angles.cosines), sines = b.constant(angles.sines);
  const auto norm = [&](Value x) {
    return b.rms_norm({x, graph::broadcast_to(b, b.scalar(DType::f32, 1), {kWidth})}, {.epsilon = 1e-5});
  };
  const auto heads = [&](Value x, std::int64_t count) {
    return b.reshape({b.dense({x, weights.next({count * kHeadSize, kWidth})})}, {.dims = {tokens, count, kHeadSize}});
  };
  const auto turned = [&](Value x) { return b.rope({x, positions, cosines, sines}, {.has_positions = true}); };

  const Value embedding = weights.next({kVocabulary, kWidth});
  Value x = graph::take_rows(b, embedding, ids);
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    const Value in = norm(x);
    const auto write = [&](std::size_t number, Value rows) {
      return caches[number] = b.write_pages({caches[number], rows, slots});
    };
    graph::PagedAttentionOperands<> operands{.query = turned(heads(in, kHeads)), .table = table, .starts = starts};
    operands.key = write(2 * layer, turned(heads(in, kKvHeads)));
    operands.value = write(2 * layer + 1, heads(in, kKvHeads));
    operands.lengths = lengths;
    operands.key_lengths = key_lengths;
    const Value mixed = b.paged_attention(
        operands.list(), operands.flagged({.scale = 1 / std::sqrt(8.0), .causal = true, .longest = tokens}));
    const Value flat = b.reshape({mixed}, {.dims = {tokens, kHeads * kHeadSize}});
    x = b.dense({flat, weights.next({kWidth, kHeads * kHeadSize}), x}, {.has_residual = true});
    const Value inner = b.dense({norm(x), weights.next({40, kWidth})}, {.activation = graph::Activation::silu});
    x = b.dense({inner, weights.next({kWidth, 40}), x}, {.has_residual = true});
  }
  const Value one = graph::scalar_like(b, 1, starts);
  const Value last = graph::take_rows(b, norm(x), b.sub({b.add({starts, lengths}), one}));
  b.output("logits", b.dense({last, embedding}));
  for (std::size_t i = 0; i < kCaches; ++i) b.output("cache " + std::to_string(i), caches[i], 7 + i);
  return b.finish();
}

using Ids = std::vector<std::int32_t>;

// The tokens of each text, and the logits after each one that the decoder has chosen from.
struct Texts {
  std::vector<Ids> ids;
  std::vector<std::vector<std::vector<float>>> logits;
};

class Decoding {
 public:
  Decoding(Backend& backend, DType cache) : backend_(backend), executable_(backend.compile(decoder(cache), {})) {
    for (std::size_t i = 0; i < kCaches; ++i)
      caches_.emplace_back(Tensor::zeros({cache, {kPages, kPageRows, kKvHeads, kHeadSize}}));
  }

  // Goes on with each prompt until it is `length` tokens long: most probable ones. A text gives at most `piece` tokens
  // a run, so that one may be decoding while another's prompt still comes in.
  Texts run(std::vector<Ids> prompts, std::size_t length, std::size_t piece) {
    Texts texts{std::move(prompts), {}};
    texts.logits.resize(texts.ids.size());
    PageTables tables(texts.ids.size(), kPages, kPageRows, kMostPages);
    std::vector<std::size_t> done(texts.ids.size(), 0);
    const auto is_left = [&] {
      return std::ranges::any_of(texts.ids, [&](const Ids& ids) { return ids.size() < length; });
    };
    while (is_left()) {
      std::vector<std::int64_t> counts;
      Ids packed;
      for (std::size_t i = 0; i < texts.ids.size(); ++i) {
        const Ids& ids = texts.ids[i];
        const std::size_t count = ids.size() < length ? std::min(piece, ids.size() - done[i]) : 0;
        counts.push_back(static_cast<std::int64_t>(count));
        const auto first = ids.begin() + static_cast<std::ptrdiff_t>(done[i]);
        packed.insert(packed.end(), first, first + counts.back());
        done[i] += count;
      }
      const std::vector<float> logits = step(packed, tables, counts);
      for (std::size_t i = 0; i < texts.ids.size(); ++i) {
        if (counts[i] == 0 || done[i] < texts.ids[i].size()) continue;
        const auto first = logits.begin() + static_cast<std::ptrdiff_t>(i) * kVocabulary;
        texts.logits[i].emplace_back(first, first + kVocabulary);
        const std::vector<float>& last = texts.logits[i].back();
        texts.ids[i].push_back(static_cast<std::int32_t>(std::ranges::max_element(last) - last.begin()));
      }
    }
    return texts;
  }

  const std::vector<Buffer>& caches() const { return caches_; }
  ExecutableFacts facts() const { return executable_->facts(); }

 private:
  // As many tokens as there are, or as the next of few sizes, since some backends compile for each one.
  std::vector<float> step(Ids ids, PageTables& tables, const std::vector<std::int64_t>& counts) {
    const std::size_t size = ids.size() <= 2 ? 2 : kMostTokens;
    const PageFeed feed = tables.next(counts, static_cast<std::int64_t>(size - ids.size()));
    ids.resize(size, 0);
    std::vector<Buffer> inputs = {
        Tensor::from<std::int32_t>({static_cast<std::int64_t>(size)}, std::span<const std::int32_t>(ids)),
        feed.positions,
        feed.slots,
        feed.table,
        feed.starts,
        feed.lengths,
        feed.key_lengths};
    std::vector<Buffer> outputs = {{}};
    for (const Buffer& cache : caches_) {
      inputs.push_back(cache);
      outputs.push_back(cache);
    }
    executable_->run(inputs, outputs, {.cancellation = base::Cancellation::never()});
    std::ranges::copy(outputs.begin() + 1, outputs.end(), caches_.begin());
    const Tensor logits = outputs[0].host() != nullptr ? *outputs[0].host() : backend_.download(outputs[0]);
    return {logits.values<float>().begin(), logits.values<float>().end()};
  }

  Backend& backend_;
  std::unique_ptr<Executable> executable_;
  std::vector<Buffer> caches_;
};

const std::vector<Ids> kPrompts = {{3, 17, 8, 25, 1, 12, 20, 5, 9}, {11, 2, 28, 14}};
constexpr std::size_t kLength = 16;

class PagedDecoder : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::vector<Device> devices = backend().devices();
    if (devices.empty() || devices[0].unusable) GTEST_SKIP() << GetParam() << " is not installed here";
  }
  Backend& backend() { return get_backend(GetParam()); }
};

TEST_P(PagedDecoder, GoesOnAlikeHoweverPromptsComeIn) {
  std::vector<DType> dtypes = {DType::f32, DType::f16, DType::bf16};
  if (GetParam() == "onnx") dtypes = {DType::f32, DType::f16};  // ONNX Runtime's kernels take no bf16
  if (GetParam() == "xla") dtypes = {DType::bf16};              // compiles for long
  for (const DType cache : dtypes) {
    const Texts wanted = Decoding(get_backend("reference"), cache).run(kPrompts, kLength, kMostTokens);
    EXPECT_NE(wanted.ids[0], wanted.ids[1]);
    Decoding decoding(backend(), cache);
    const Texts whole = decoding.run(kPrompts, kLength, kMostTokens);
    EXPECT_EQ(whole.ids, wanted.ids) << to_string(cache);
    for (const std::size_t piece : {3, 1}) {
      const Texts pieces = decoding.run(kPrompts, kLength, piece);
      EXPECT_EQ(pieces.ids, wanted.ids) << to_string(cache) << ", pieces of " << piece;
      if (GetParam() == "cpu") {
        EXPECT_EQ(pieces.logits, whole.logits) << to_string(cache) << ", pieces of " << piece;
      }
    }
    for (std::size_t i = 0; i < kPrompts.size(); ++i) {
      std::vector<Ids> one(kPrompts.size(), Ids(kLength));  // the others are done
      one[i] = kPrompts[i];
      const Texts alone = decoding.run(one, kLength, kMostTokens);
      EXPECT_EQ(alone.ids[i], wanted.ids[i]) << to_string(cache) << ", alone";
      if (GetParam() == "cpu") {
        EXPECT_EQ(alone.logits[i], whole.logits[i]) << to_string(cache) << ", alone";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, PagedDecoder, testing::Values("reference", "cpu", "onnx", "xla"),
                         [](const auto& each) { return each.param; });

TEST(PagedDecoderOnCpu, KeepsItsCachesWhereTheyAre) {
  Decoding decoding(get_backend("cpu"), DType::bf16);
  for (const AliasFacts& alias : decoding.facts().aliases) EXPECT_TRUE(alias.in_place) << alias.copy_reason;
  EXPECT_EQ(decoding.facts().aliases.size(), kCaches);
  std::vector<const std::byte*> places;
  for (const Buffer& cache : decoding.caches()) places.push_back(cache.host()->bytes().data());
  decoding.run(kPrompts, kLength, 3);
  for (std::size_t i = 0; i < kCaches; ++i) EXPECT_EQ(decoding.caches()[i].host()->bytes().data(), places[i]);
}

}  // namespace
}  // namespace alate::backends
