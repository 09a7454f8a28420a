// What a product's attributes make of its epilogue.
#include "backends/cpu/plan/epilogue.h"

#include <gtest/gtest.h>

namespace alate::cpu {
namespace {

TEST(Epilogue, NamesTheOperandsOfAProductByTheirPlaces) {
  const graph::Dense plain{.activation = graph::Activation::relu};
  EXPECT_EQ(epilogue_of(plain), Epilogue{.activation = graph::Activation::relu});
  const graph::Dense dense{.has_bias = true, .has_residual = true};
  EXPECT_EQ(epilogue_of(dense), (Epilogue{.bias = 2, .residual = 3}));
  EXPECT_EQ(epilogue_of(graph::Dense{.has_residual = true}), Epilogue{.residual = 2});
}

TEST(Epilogue, CountsTheOperandsOfAQuantizedWeight) {
  const graph::QuantizedDense dense{
      .has_zero_points = true, .has_bias = true, .has_smoothing = true, .has_residual = true};
  EXPECT_EQ(epilogue_of(dense), (Epilogue{.bias = 5, .residual = 6})) << "x, smoothing, weight, scales, zero points";
}

TEST(Epilogue, IsEmptyForOtherOps) { EXPECT_EQ(epilogue_of(graph::Norm{}), Epilogue{}); }

}  // namespace
}  // namespace alate::cpu
