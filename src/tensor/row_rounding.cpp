#include "tensor/row_rounding.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "alate/error.h"

namespace alate::tensor {

float row_scale(std::span<const float> row) {
  constexpr float kLeast = 1e-12F;
  float most = kLeast;
  for (const float value : row) most = std::max(most, std::abs(value));
  return most / ScaledRows::kMost;
}

float round_to_stored(float value, float scale) {
  return std::clamp(std::nearbyint(value / scale), -ScaledRows::kMost, ScaledRows::kMost);
}

ScaledRows round_rows(const Tensor& matrix) {
  if (matrix.rank() != 2)
    throw make_error(ErrorCode::invalid_argument, "rows of ", to_string(matrix.shape()),
                     " cannot be rounded: ", "a matrix is wanted");
  const auto rows = static_cast<std::size_t>(matrix.extent(0)), columns = static_cast<std::size_t>(matrix.extent(1));
  ScaledRows rounded{.stored = Tensor::uninitialized({DType::i8, matrix.shape().dims}),
                     .scales = Tensor::uninitialized({DType::f32, {matrix.extent(0), 1}})};
  const std::span<const float> values = matrix.values<float>();
  const std::span<std::int8_t> stored = rounded.stored.mutable_values<std::int8_t>();
  for (std::size_t row = 0; row < rows; ++row) {
    const std::span<const float> from = values.subspan(row * columns, columns);
    if (!std::ranges::all_of(from, [](float value) { return std::isfinite(value); }))
      throw make_error(ErrorCode::invalid_argument, "row ", row, " has numbers that are not finite: it cannot be ",
                       "rounded to 8 bits");
    const float scale = row_scale(from);
    rounded.scales.mutable_values<float>()[row] = scale;
    for (std::size_t i = 0; i < columns; ++i)
      stored[row * columns + i] = static_cast<std::int8_t>(round_to_stored(from[i], scale));
  }
  return rounded;
}

}  // namespace alate::tensor
