// Which operands of a step go row by row, as its row in the table of operations says.
#include "backends/cpu/steps/row_operands.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/cpu/steps/operations.h"

namespace alate::cpu {
namespace {

Step step_of(std::string_view spelling, graph::Attributes attributes, std::size_t inputs) {
  const auto row = std::ranges::find(operations(), spelling, &Operation::spelling);
  EXPECT_NE(row, operations().end()) << spelling;
  Step step;
  step.operation = &*row;
  step.attributes = std::move(attributes);
  for (SlotId id = 0; id < inputs; ++id) step.inputs.push_back(id);
  return step;
}

TEST(RowOperands, OfProductsAreActivationsAndResidual) {
  const graph::Dense both{.has_bias = true, .has_residual = true}, residual{.has_residual = true};
  EXPECT_EQ(row_operands(step_of("gemm", both, 4)), 0b1001U);
  EXPECT_EQ(row_operands(step_of("half_gemm", residual, 3)), 0b101U);
  EXPECT_EQ(row_operands(step_of("gemm", graph::Dense{}, 2)), 0b1U);
  const graph::QuantizedDense quantized{.has_bias = true, .has_smoothing = true, .has_residual = true};
  EXPECT_EQ(row_operands(step_of("integer_gemm", quantized, 6)), 0b100001U);
  EXPECT_EQ(row_operands(step_of("quantized_gemm", graph::QuantizedDense{}, 3)), 0b1U);
}

TEST(RowOperands, OfLayerNormsHaveTheSumsOfTheirRows) {
  EXPECT_EQ(row_operands(step_of("layer_norm", graph::Norm{}, 3)), 0b1U);
  EXPECT_EQ(row_operands(step_of("layer_norm", graph::Norm{}, 4)), 0b1001U);
  EXPECT_EQ(row_operands(step_of("rms_norm", graph::Norm{}, 2)), 0b1U);
}

TEST(RowOperands, OfLookupsAreTheIndices) {
  graph::Gather gather;
  gather.index_vector_dim = 1;
  gather.offset_dims = {1};
  EXPECT_EQ(row_operands(step_of("gather", gather, 2)), 0b10U);
  gather.offset_dims = {0};
  EXPECT_EQ(row_operands(step_of("gather", gather, 2)), 0U) << "slices lie along the first axis";
  EXPECT_EQ(row_operands(step_of("quantized_rows", graph::Dequantize{}, 3)), 0b1U);
}

TEST(RowOperands, OfJoinedStepsAreThoseOfEachPart) {
  Step norm = step_of("layer_norm", graph::Norm{}, 3);
  norm.outputs = {3};
  Step product = step_of("integer_gemm", graph::QuantizedDense{.has_bias = true, .has_residual = true}, 5);
  product.inputs = {3, 4, 5, 6, 0};  // the norm's operand is the residual
  Step joined;
  joined.operation = &norm_product_operation();
  joined.inputs = {0, 1, 2, 4, 5, 6, 0};
  joined.parts = {norm, product};
  EXPECT_EQ(row_operands(joined), 0b1000001U);
  joined.parts[1].inputs[3] = 0;  // which is then also read whole
  EXPECT_EQ(row_operands(joined), 0U);
}

TEST(RowOperands, AreUnknownWhereRowsMix) {
  EXPECT_EQ(row_operands(step_of("dot_general", graph::DotGeneral{}, 2)), 0U);
  EXPECT_EQ(row_operands(step_of("ragged_attention", graph::Attention{}, 5)), 0U);
}

}  // namespace
}  // namespace alate::cpu
