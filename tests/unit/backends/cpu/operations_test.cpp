// Facts in the table of operations that passes and the planner go by.
#include "backends/cpu/steps/operations.h"

#include <gtest/gtest.h>

#include <algorithm>

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

}  // namespace
}  // namespace alate::cpu
