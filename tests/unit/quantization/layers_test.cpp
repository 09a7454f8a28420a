#include "quantization/layers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "graph/builder.h"
#include "graph/interpreter.h"
#include "tests/unit/quantization/tiny_encoder.h"

namespace alate::quantization {
namespace {

Inputs random_inputs(std::size_t rows, std::size_t columns) {
  std::mt19937 random(5);
  const Tensor values =
      random_tensor(random, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)}, 0.4F);
  return {.values = {values.values<float>().begin(), values.values<float>().end()}, .columns = columns};
}

double product(const Inputs& inputs, std::size_t row, const Tensor& weight, std::size_t out) {
  double sum = 0;
  for (std::size_t i = 0; i < inputs.columns; ++i)
    sum += double{inputs.values[row * inputs.columns + i]} * double{weight.values<float>()[out * inputs.columns + i]};
  return sum;
}

TEST(Smoothing, ChangesNoProduct) {
  Inputs inputs = random_inputs(9, 24);
  std::mt19937 random(6);
  const std::vector<Tensor> weights = {random_tensor(random, {5, 24}), random_tensor(random, {3, 24})};
  const std::vector<float> smoothing = smoothing_of(inputs, weights);
  Inputs smooth = inputs;
  for (std::size_t i = 0; i < smooth.values.size(); ++i) smooth.values[i] *= smoothing[i % 24];
  for (const Tensor& weight : weights) {
    const Tensor divided = divided_columns(weight, smoothing);
    for (std::size_t row = 0; row < inputs.rows(); ++row) {
      for (std::size_t out = 0; out < static_cast<std::size_t>(weight.extent(0)); ++out)
        EXPECT_NEAR(product(smooth, row, divided, out), product(inputs, row, weight, out), 1e-5);
    }
  }
}

TEST(Smoothing, BringsRangesOfInputsAndWeightsNearerToEachOther) {
  // Magnitudes 8 and 2, of weights 2 and 2: 2^0.4/8^0.6 = 2^-1.4 and 2^0.4/2^0.6 = 2^-0.2, over their mean 2^-0.8.
  const Inputs inputs{.values = {-8, 1, 3, 2}, .columns = 2};
  const std::vector<Tensor> weights = {Tensor::from<float>({1, 2}, {2.0F, -1.0F}),
                                       Tensor::from<float>({1, 2}, {0.5F, 2.0F})};
  const std::vector<float> smoothing = smoothing_of(inputs, weights);
  EXPECT_NEAR(smoothing[0], std::pow(2, -0.6), 1e-6);
  EXPECT_NEAR(smoothing[1], std::pow(2, 0.6), 1e-6);
}

TEST(Smoothing, TakesTheMeanRangeForChannelsThatNoTextMadeActive) {
  // Magnitudes 0, 4 and 4: the first counts as their mean, 8/3.
  const Inputs inputs{.values = {0, -4, 1, 0, 2, 4}, .columns = 3};
  const std::vector<float> smoothing =
      smoothing_of(inputs, std::vector{Tensor::from<float>({1, 3}, {1.0F, 1.0F, -1.0F})});
  EXPECT_NEAR(smoothing[0] / smoothing[1], std::pow(1.5, 0.6), 1e-4);
  EXPECT_EQ(smoothing[1], smoothing[2]);
}

// The op that the model will run says what rounding means: with a weight of ones on the diagonal it is all there is.
TEST(RoundTo8Bits, IsWhatTheOpDoes) {
  constexpr std::int64_t kWidth = 24;
  for (const std::int64_t groups : {1, 3, 4}) {
    Inputs inputs = random_inputs(7, kWidth);
    graph::Builder b("rounding");
    const Tensor x = Tensor::from<float>({7, kWidth}, inputs.values);
    Tensor identity = Tensor::zeros({DType::i8, {kWidth, kWidth}}), scales = Tensor::zeros({DType::f32, {kWidth, 1}});
    for (std::size_t i = 0; i < kWidth; ++i) {
      identity.mutable_values<std::int8_t>()[i * kWidth + i] = 1;
      scales.mutable_values<float>()[i] = 1;
    }
    const graph::Value in = b.parameter("x", x.shape());
    b.output("y", b.quantized_dense({in, b.constant(identity), b.constant(scales)},
                                    {.blocks = {1, 0}, .activation_groups = groups}));
    const Tensor wanted = graph::interpret(b.finish(), std::vector<Tensor>{x}, base::Cancellation::never()).front();
    round_to_8_bits(inputs, groups);
    for (std::size_t i = 0; i < inputs.values.size(); ++i)
      EXPECT_NEAR(inputs.values[i], wanted.values<float>()[i], 1e-6) << groups << " groups, place " << i;
  }
}

TEST(MeanOutputs, TakeTheScaleOfEachRun) {
  const tensor::ScaledRows rows{.stored = Tensor::from<std::int8_t>({2, 4}, {1, 2, 3, 4, -1, 0, 0, 5}),
                                .scales = Tensor::from<float>({2, 2}, {0.5F, 2, 10, 1})};
  const std::vector<double> means = {1, 10, 2, -1};
  EXPECT_EQ(mean_outputs(rows, means), (std::vector<double>{0.5 * 21 + 2 * 2, -10 - 5}));
}

TEST(FallingRange, OrdersColumnsAlikeInInputsAndWeights) {
  const Inputs inputs{.values = {1, 0, 5, 2, 9, 5}, .columns = 3};  // ranges 1, 9, 0
  const std::vector<std::size_t> order = by_falling_range(inputs);
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 0, 2}));
  EXPECT_EQ(ordered_columns(inputs, order).values, (std::vector<float>{0, 1, 5, 9, 2, 5}));
  const Tensor weight = Tensor::from<float>({2, 3}, {10.0F, 20.0F, 30.0F, 40.0F, 50.0F, 60.0F});
  const Tensor ordered = ordered_columns(weight, order);
  const auto columns = ordered.values<float>();
  EXPECT_EQ(std::vector<float>(columns.begin(), columns.end()), (std::vector<float>{20, 10, 30, 50, 40, 60}));
  const Tensor rows = ordered_rows(Tensor::from<std::int8_t>({3, 2}, {1, 2, 3, 4, 5, 6}), order);
  const auto values = rows.values<std::int8_t>();
  EXPECT_EQ(std::vector<std::int8_t>(values.begin(), values.end()), (std::vector<std::int8_t>{3, 4, 1, 2, 5, 6}));
}

}  // namespace
}  // namespace alate::quantization
