// Encoders that are files: what a file may declare about its output rows.
#include "runtime/loading/file_encoder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "alate/error.h"
#include "backends/host_buffers.h"
#include "tests/unit/base/expect_error.h"

namespace alate::runtime {
namespace {

using backends::Buffer;
using backends::Port;

constexpr std::int64_t kWidth = 4;

// A file that leaves all dims of its output without names, and gives rows of any extents: each has its place as value.
class OpenFile final : public backends::Executable {
 public:
  explicit OpenFile(Shape given) : given_(std::move(given)) {}
  std::span<const Port> inputs() const override { return {&input_, 1}; }
  std::span<const Port> outputs() const override { return {&output_, 1}; }
  backends::ExecutableFacts facts() const override { return {}; }

 private:
  void compute(std::span<const Buffer>, std::span<Buffer> outputs, const backends::RunOptions&) override {
    Tensor rows = Tensor::uninitialized(given_);
    float next = 0;
    for (float& value : rows.mutable_values<float>()) value = next++;
    outputs[0] = rows;
  }
  bool has_ports_of_a_file() const override { return true; }

  Shape given_;
  Port input_{"input_ids", {DType::i64, {Dim::of_id(0), Dim::of_id(1)}}};
  Port output_{"last_hidden_state", {DType::f32, {Dim::of_id(2), Dim::of_id(3), Dim::of_id(4)}}};
};

// Its output is its last input: [tokens, width].
class Head final : public backends::Executable {
 public:
  std::span<const Port> inputs() const override { return {}; }
  std::span<const Port> outputs() const override { return {&output_, 1}; }
  backends::ExecutableFacts facts() const override { return {}; }

 private:
  void compute(std::span<const Buffer> inputs, std::span<Buffer> outputs, const backends::RunOptions&) override {
    const Tensor rows[] = {backends::host_tensor(inputs.back())};
    backends::store_outputs(rows, outputs);
  }

  Port output_{"rows", {DType::f32, {Dim::of_id(0), kWidth}}};
};

// Two texts of 1 and 3 tokens through a file that gives rows of these extents.
std::vector<Tensor> run(std::vector<Dim> dims) {
  const models::EncoderLimits limits{.vocabulary = 10, .positions = 10, .types = 1, .hidden_size = kWidth};
  FileEncoder encoder =
      find_encoder(std::make_shared<OpenFile>(Shape{DType::f32, std::move(dims)}), "model.onnx", limits);
  Feeders feeders;
  feeders.push_back(feed_packed_tokens(limits));
  feeders.push_back(feed_hidden_states(std::move(encoder)));
  graph::DimTable table;
  models::EncoderInputs packed;
  packed.tokens = table.named("tokens");
  const EntryPoint entry_point(std::make_unique<Head>(), std::move(feeders), models::counted_dims(packed), table);
  PackedTokens tokens;
  tokens.ids = {1, 2, 3, 4};
  tokens.lengths = {1, 3};
  return entry_point.run(tokens, {}, {.cancellation = base::Cancellation::never()});
}

TEST(FileEncoder, PacksTheRowsOfTheTokens) {
  const std::vector<Tensor> rows = run({2, 3, kWidth});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(to_string(rows[0].shape()), "f32[4,4]");
  // Row 0 of text 0, then rows 0, 1 and 2 of text 1, which begins at row 3 of all.
  EXPECT_EQ(rows[0].values<float>()[0], 0);
  EXPECT_EQ(rows[0].values<float>()[4], 12);
  EXPECT_EQ(rows[0].values<float>()[15], 23);
}

// Each of these was read beyond its end, or as another text's.
TEST(FileEncoder, RowsOfOtherExtentsAreCorrupt) {
  for (const std::vector<Dim>& dims : std::vector<std::vector<Dim>>{{1, 1, 1},
                                                                    {2, 3, 1},
                                                                    {2, 1, kWidth},
                                                                    {1, 3, kWidth},
                                                                    {0, 3, kWidth},
                                                                    {2, 0, kWidth},
                                                                    {2, 4, kWidth},
                                                                    {3, 2, kWidth},
                                                                    {2, 3, 5},
                                                                    {1, 1, 100}}) {
    const Error error = base::error_of([&] { (void)run(dims); });
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << error.message();
    EXPECT_NE(error.message().find("must be f32[2,3,4]"), std::string::npos) << error.message();
  }
}

TEST(FileEncoder, RowsOfAnotherRankAreCorrupt) {
  for (const std::vector<Dim>& dims : std::vector<std::vector<Dim>>{{}, {24}, {2, 12}, {2, 3, kWidth, 1}})
    EXPECT_EQ(base::error_of([&] { (void)run(dims); }).code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace alate::runtime
