// Facts in the table of operations that passes and the planner go by.
#include "backends/cpu/steps/operations.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/builder.h"

namespace alate::cpu {
namespace {

using backends::WeightLayout;

const Operation& row_named(std::string_view spelling) {
  const auto found = std::ranges::find(operations(), spelling, &Operation::spelling);
  EXPECT_NE(found, operations().end()) << spelling;
  return *found;
}

TEST(Operations, FindPackedOperandsByRole) {
  const Operation& product = row_named("integer_gemm");
  ASSERT_EQ(product.packed.size(), 2U);
  EXPECT_EQ(product.packed[0].role, WeightLayout::Role::elements);
  EXPECT_EQ(product.packed[1].role, WeightLayout::Role::scales);
  for (const bool has_smoothing : {false, true}) {
    const graph::QuantizedDense dense{.blocks = {1, 0}, .has_bias = true, .has_smoothing = has_smoothing};
    const std::size_t weight = has_smoothing ? 2 : 1;
    EXPECT_EQ(product.packed_at(0, dense), std::nullopt) << "activations";
    EXPECT_EQ(product.packed_at(weight, dense), 0U);
    EXPECT_EQ(product.packed_at(weight + 1, dense), 1U);
    EXPECT_EQ(product.packed_at(weight + 2, dense), std::nullopt) << "bias";
  }
  EXPECT_EQ(row_named("gemm").packed_at(1, graph::Dense{}), 0U);
  EXPECT_EQ(row_named("softmax").packed_at(0, graph::Axis{}), std::nullopt);
}

// The formats that the first row of that spelling may read an operand in, besides row-major.
FormatSet read_formats(std::string_view spelling, std::size_t operand, const graph::Attributes& attributes) {
  const Operation& operation = row_named(spelling);
  FormatSet formats = 0;
  for (const Format format : {kStridedRows, kColumnBlocks, kBf16Rows, kQuantizedRows}) {
    if (operation.reads_as(format, operand, attributes)) formats |= format;
  }
  EXPECT_TRUE(operation.reads_as(kRowMajor, operand, attributes)) << spelling;
  return formats;
}

TEST(Operations, SayWhichFormatsAnOperandMayHave) {
  const graph::Dense dense{.has_bias = true, .has_residual = true};
  EXPECT_EQ(read_formats("gemm", 0, dense), kStridedRows);
  for (const std::size_t other : {1, 2, 3}) EXPECT_EQ(read_formats("gemm", other, dense), 0U) << other;
  EXPECT_EQ(read_formats("half_gemm", 0, dense), kStridedRows | kBf16Rows);
  const graph::QuantizedDense quantized{.has_smoothing = true, .has_residual = true};
  EXPECT_EQ(read_formats("integer_gemm", 0, quantized), kQuantizedRows);
  for (const std::size_t other : {1, 2, 3, 4}) EXPECT_EQ(read_formats("integer_gemm", other, quantized), 0U) << other;
  for (const std::size_t heads : {0, 1, 2})
    EXPECT_EQ(read_formats("ragged_attention", heads, graph::Attention{}), kStridedRows | kColumnBlocks);
  EXPECT_EQ(read_formats("ragged_attention", 3, graph::Attention{}), 0U) << "starts";
  EXPECT_EQ(read_formats("rope", 0, graph::Rope{}), kStridedRows);
  EXPECT_EQ(read_formats("rope", 1, graph::Rope{}), 0U) << "a table";
  EXPECT_EQ(read_formats("softmax", 0, graph::Axis{}), 0U);
}

TEST(Operations, SayWhichFormatsAResultMayHave) {
  EXPECT_EQ(row_named("gemm").writes, kRowMajor | kColumnBlocks | kQuantizedRows);
  EXPECT_EQ(row_named("half_gemm").writes, kRowMajor | kColumnBlocks | kQuantizedRows | kBf16Rows);
  EXPECT_EQ(row_named("integer_gemm").writes, kRowMajor | kColumnBlocks | kQuantizedRows);
  EXPECT_EQ(row_named("layer_norm").writes, kRowMajor | kBf16Rows);
  EXPECT_EQ(row_named("ragged_attention").writes, kRowMajor | kBf16Rows);
  EXPECT_EQ(row_named("softmax").writes, kRowMajor);
}

// Whoever chooses a format by the words that a product multiplies asks its kernel.
TEST(Operations, OfProductsNameTheirKernel) {
  for (const Operation& row : operations()) {
    const bool stores_more = row.writes_as(kColumnBlocks) || row.writes_as(kQuantizedRows);
    EXPECT_EQ(row.kernel != nullptr, stores_more) << row.spelling;
  }
}

TEST(Operations, KnowTheirNorm) {
  EXPECT_EQ(row_named("layer_norm").norm, NormKind::layer);
  EXPECT_EQ(row_named("rms_norm").norm, NormKind::rms);
  EXPECT_EQ(row_named("normalize").norm, NormKind::l2);
  EXPECT_EQ(row_named("softmax").norm, std::nullopt);
}

TEST(Operations, SayWhichResultsAreViews) {
  std::vector<graph::Op> views;
  for (const Operation& row : operations()) {
    if (row.has(kShowsOperands)) views.push_back(row.op);
  }
  for (const graph::Op op : {graph::Op::reshape, graph::Op::dynamic_reshape, graph::Op::identity, graph::Op::bitcast,
                             graph::Op::optimization_barrier, graph::Op::all_reduce, graph::Op::collective_permute})
    EXPECT_EQ(std::ranges::count(views, op), 1) << graph::to_string(op);
  for (const graph::Op op : {graph::Op::transpose, graph::Op::slice, graph::Op::add})
    EXPECT_EQ(std::ranges::count(views, op), 0) << graph::to_string(op);
}

// A program runs on only one device, which sends to itself or receives nothing.
TEST(Operations, TakeAPermutationForAViewWhereADeviceSends) {
  for (const bool sends : {false, true}) {
    graph::Builder b("permutation");
    const graph::Value x = b.parameter("x", {DType::f32, {Dim(3)}});
    graph::CollectivePermute permute;
    if (sends) permute.source_target_pairs = {{0, 0}};
    b.output("y", b.collective_permute({x}, permute));
    const graph::Graph graph = std::move(b).finish();
    EXPECT_EQ(find_operation(graph, graph.nodes().back()).has(kShowsOperands), sends);
  }
}

}  // namespace
}  // namespace alate::cpu
