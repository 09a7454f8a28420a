#include "quantization/gptq.h"

#include <algorithm>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "alate/error.h"
#include "quantization/inverse_root.h"

namespace alate::quantization {
namespace {

// Rows of numbers that vary together: few causes, many columns, and some noise.
Inputs correlated_inputs(std::size_t rows, std::size_t columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  const std::size_t causes = columns / 4;
  std::vector<float> mix(causes * columns);
  for (float& value : mix) value = normal(random);
  Inputs inputs{.values = std::vector<float>(rows * columns), .columns = columns};
  for (std::size_t row = 0; row < rows; ++row) {
    float* x = inputs.values.data() + row * columns;
    for (std::size_t cause = 0; cause < causes; ++cause) {
      const float strength = normal(random);
      for (std::size_t i = 0; i < columns; ++i) x[i] += strength * mix[cause * columns + i];
    }
    for (std::size_t i = 0; i < columns; ++i) x[i] += 0.1F * normal(random) + 0.5F;
  }
  return inputs;
}

Tensor random_weight(std::size_t rows, std::size_t columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(rows * columns);
  for (float& value : values) value = normal(random);
  return Tensor::from<float>({static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)}, values);
}

// Mean square of the change of outputs around their mean.
double output_error(const Inputs& inputs, const Tensor& weight, const tensor::ScaledRows& rounded) {
  const std::vector<double> means = column_means(inputs);
  const std::size_t columns = inputs.columns;
  double error = 0;
  for (std::size_t out = 0; out < static_cast<std::size_t>(weight.extent(0)); ++out) {
    for (std::size_t row = 0; row < inputs.rows(); ++row) {
      double change = 0;
      for (std::size_t i = 0; i < columns; ++i) {
        const double stored = static_cast<double>(rounded.stored.values<std::int8_t>()[out * columns + i]);
        const std::size_t run = (out * columns + i) / static_cast<std::size_t>(rounded.group_size());
        const double scale = double{rounded.scales.values<float>()[run]};
        change += (stored * scale - double{weight.values<float>()[out * columns + i]}) *
                  (double{inputs.values[row * columns + i]} - means[i]);
      }
      error += change * change;
    }
  }
  return error;
}

TEST(InverseRoot, TimesItsTransposeIsTheInverse) {
  for (const std::size_t n : {1, 2, 63, 64, 65, 200}) {
    const Inputs inputs = correlated_inputs(300, std::max<std::size_t>(n, 4), 3);
    std::vector<double> matrix(n * n);
    const std::vector<double> all = covariance(inputs, column_means(inputs));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) matrix[i * n + j] = all[i * inputs.columns + j] + (i == j ? 0.1 : 0);
    }
    std::vector<double> root = matrix;
    inverse_root(root, n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (j < i) {
          EXPECT_EQ(root[i * n + j], 0);
        }
        // (Uᵀ U H)_ij
        double sum = 0;
        for (std::size_t k = 0; k < n; ++k) {
          double inverse = 0;
          for (std::size_t p = 0; p <= std::min(i, k); ++p) inverse += root[p * n + i] * root[p * n + k];
          sum += inverse * matrix[std::max(k, j) * n + std::min(k, j)];
        }
        ASSERT_NEAR(sum, i == j ? 1 : 0, 1e-8) << n << ": " << i << ", " << j;
      }
    }
  }
}

TEST(InverseRoot, RefusesWhatIsNotPositiveDefinite) {
  std::vector<double> matrix = {1, 0, 2, 1};  // [[1, 2], [2, 1]]
  EXPECT_THROW(inverse_root(matrix, 2), Error);
  std::vector<double> unknown = {std::nan("")};
  EXPECT_THROW(inverse_root(unknown, 1), Error);
}

TEST(Covariance, IsThatOfTwoColumnsByHand) {
  const Inputs inputs{.values = {1, 10, 2, 10, 3, 40, 4, 40, 5, 10}, .columns = 2};
  const std::vector<double> means = column_means(inputs);
  EXPECT_EQ(means, (std::vector<double>{3, 22}));
  const std::vector<double> found = covariance(inputs, means);
  EXPECT_DOUBLE_EQ(found[0], 2);    // (4 + 1 + 0 + 1 + 4) / 5
  EXPECT_DOUBLE_EQ(found[2], 6);    // (24 + 12 + 0 + 18 - 24) / 5
  EXPECT_DOUBLE_EQ(found[3], 216);  // (3 · 144 + 2 · 324) / 5
}

TEST(Gptq, ChangesOutputsLessThanRoundingToNearest) {
  for (const std::size_t columns : {20, 130}) {
    const Inputs inputs = correlated_inputs(400, columns, 7);
    const GptqPlan plan(covariance(inputs, column_means(inputs)), columns);
    const Tensor weight = random_weight(40, columns, 8);
    const tensor::ScaledRows nearest = tensor::round_rows(weight), chosen = plan.round(weight);
    const double before = output_error(inputs, weight, nearest), after = output_error(inputs, weight, chosen);
    EXPECT_LT(after, 0.5 * before) << columns;
    EXPECT_TRUE(std::ranges::equal(nearest.scales.values<float>(), chosen.scales.values<float>()));
  }
}

TEST(Gptq, ChangesOutputsLessWithAScaleForEachRun) {
  constexpr std::size_t kColumns = 128;
  const Inputs inputs = correlated_inputs(400, kColumns, 7);
  const GptqPlan plan(covariance(inputs, column_means(inputs)), kColumns);
  const Tensor weight = random_weight(40, kColumns, 8);
  const double whole = output_error(inputs, weight, plan.round(weight));
  const tensor::ScaledRows in_groups = plan.round(weight, 4);
  EXPECT_LT(output_error(inputs, weight, in_groups), 0.85 * whole);
  EXPECT_LT(output_error(inputs, weight, in_groups), 0.5 * output_error(inputs, weight, tensor::round_rows(weight, 4)));
  EXPECT_TRUE(
      std::ranges::equal(in_groups.scales.values<float>(), tensor::round_rows(weight, 4).scales.values<float>()));
  EXPECT_THROW((void)plan.round(weight, 3), Error);
}

TEST(Gptq, RoundsToNearestWhereColumnsHaveNothingToDoWithEachOther) {
  const std::size_t n = 16;
  std::vector<double> matrix(n * n);
  for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] = 1 + static_cast<double>(i);
  const Tensor weight = random_weight(5, n, 1);
  const auto chosen = GptqPlan(matrix, n).round(weight), nearest = tensor::round_rows(weight);
  EXPECT_TRUE(std::ranges::equal(nearest.stored.values<std::int8_t>(), chosen.stored.values<std::int8_t>()));
  const auto in_groups = GptqPlan(matrix, n).round(weight, 4), nearest_in_groups = tensor::round_rows(weight, 4);
  EXPECT_TRUE(
      std::ranges::equal(nearest_in_groups.stored.values<std::int8_t>(), in_groups.stored.values<std::int8_t>()));
  // Inputs that never vary say nothing.
  const auto blind = GptqPlan(std::vector<double>(n * n), n).round(weight);
  EXPECT_TRUE(std::ranges::equal(nearest.stored.values<std::int8_t>(), blind.stored.values<std::int8_t>()));
}

TEST(RoundRows, KeepsEachRowWithinHalfAStep) {
  const Tensor weight = random_weight(6, 33, 5);
  const tensor::ScaledRows rows = tensor::round_rows(weight);
  for (std::size_t i = 0; i < weight.values<float>().size(); ++i) {
    const float scale = rows.scales.values<float>()[i / 33];
    EXPECT_NEAR(static_cast<float>(rows.stored.values<std::int8_t>()[i]) * scale, weight.values<float>()[i],
                0.5001F * scale);
  }
  EXPECT_EQ(std::ranges::max(rows.stored.values<std::int8_t>().first(33), {}, [](int x) { return std::abs(x); }), 127);
  EXPECT_THROW(tensor::round_rows(Tensor::from<float>({1, 2}, {1.0F, NAN})), Error);
}

}  // namespace
}  // namespace alate::quantization
