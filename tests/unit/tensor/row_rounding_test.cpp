#include "tensor/row_rounding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "alate/error.h"
#include "tensor/encoding.h"

namespace alate::tensor {
namespace {

Tensor normal_matrix(std::int64_t rows, std::int64_t columns) {
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (float& value : values) value = normal(random);
  return Tensor::from<float>({rows, columns}, values);
}

Tensor numbers_of(const ScaledRows& rows) {
  const std::int64_t block = rows.groups() == 1 ? 0 : rows.group_size();
  return dequantize({EncodingKind::linear, {1, block}}, rows.stored, rows.scales, {}, DType::f32);
}

double mean_square_error(const Tensor& matrix, const ScaledRows& rows) {
  const Tensor found = numbers_of(rows);
  const std::span<const float> a = matrix.values<float>(), b = found.values<float>();
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (double{a[i]} - double{b[i]}) * (double{a[i]} - double{b[i]});
  return sum / static_cast<double>(a.size());
}

TEST(RoundRows, GivesEachRunAScaleOfItsOwn) {
  const Tensor matrix = Tensor::from<float>({2, 4}, {127, 1, 0.5F, -1.27F, 0, 0, -2.54F, 0.02F});
  const ScaledRows rows = round_rows(matrix, 2);
  EXPECT_EQ(rows.groups(), 2);
  EXPECT_EQ(rows.group_size(), 2);
  const std::span<const std::int8_t> stored = rows.stored.values<std::int8_t>();
  EXPECT_EQ((std::vector<int>{stored.begin(), stored.end()}), (std::vector<int>{127, 1, 50, -127, 0, 0, -127, 1}));
  const std::span<const float> scales = rows.scales.values<float>();
  EXPECT_EQ(to_string(rows.scales.shape()), "f32[2,2]");
  EXPECT_FLOAT_EQ(scales[0], 1);
  EXPECT_FLOAT_EQ(scales[1], 0.01F);
  EXPECT_FLOAT_EQ(scales[3], 0.02F);
}

TEST(RoundRows, KeepsEachRunWithinHalfAStep) {
  const Tensor matrix = normal_matrix(6, 96);
  for (const std::int64_t groups : {1, 2, 4, 96}) {
    const ScaledRows rows = round_rows(matrix, groups);
    const Tensor found = numbers_of(rows);
    for (std::size_t i = 0; i < found.values<float>().size(); ++i) {
      const float scale = rows.scales.values<float>()[i / static_cast<std::size_t>(rows.group_size())];
      EXPECT_NEAR(found.values<float>()[i], matrix.values<float>()[i], 0.5001F * scale) << groups << ": " << i;
    }
  }
}

TEST(RoundRows, IsNearerToTheMatrixInRuns) {
  const Tensor matrix = normal_matrix(64, 384);
  const double whole = mean_square_error(matrix, round_rows(matrix));
  EXPECT_LT(mean_square_error(matrix, round_rows(matrix, 2)), 0.95 * whole);
  EXPECT_LT(mean_square_error(matrix, round_rows(matrix, 4)), 0.85 * whole);
}

TEST(RoundRows, RefusesRunsThatDoNotDivideTheColumns) {
  for (const std::int64_t groups : {-1, 0, 5}) {
    try {
      round_rows(normal_matrix(2, 6), groups);
      FAIL() << groups;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(error.message().find("f32[2,6] cannot be rounded in " + std::to_string(groups) + " groups"),
                std::string::npos)
          << error.message();
    }
  }
}

}  // namespace
}  // namespace alate::tensor
