#include "tensor/row_rounding.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "alate/error.h"

namespace alate::tensor {

float scale_of(std::span<const float> group) {
  constexpr float kLeast = 1e-12F;
  float most = kLeast;
  for (const float value : group) most = std::max(most, std::abs(value));
  return most / ScaledRows::kMost;
}

float round_to_stored(float value, float scale) {
  return std::clamp(std::nearbyint(value / scale), -ScaledRows::kMost, ScaledRows::kMost);
}

ScaledRows round_rows(const Tensor& matrix, std::int64_t groups) {
  if (matrix.rank() != 2)
    throw make_error(ErrorCode::invalid_argument, "rows of ", to_string(matrix.shape()),
                     " cannot be rounded: ", "a matrix is wanted");
  if (groups < 1 || matrix.extent(1) % groups != 0)
    throw make_error(ErrorCode::invalid_argument, "rows of ", to_string(matrix.shape()), " cannot be rounded in ",
                     groups, " groups: a number is wanted that divides the columns");
  const auto columns = static_cast<std::size_t>(matrix.extent(1)), length = columns / static_cast<std::size_t>(groups);
  ScaledRows rounded{.stored = Tensor::uninitialized({DType::i8, matrix.shape().dims}),
                     .scales = Tensor::uninitialized({DType::f32, {matrix.extent(0), groups}})};
  const std::span<const float> values = matrix.values<float>();
  const std::span<std::int8_t> stored = rounded.stored.mutable_values<std::int8_t>();
  const std::span<float> scales = rounded.scales.mutable_values<float>();
  for (std::size_t group = 0; group < scales.size(); ++group) {
    const std::size_t first = group * length;
    const std::span<const float> from = values.subspan(first, length);
    if (!std::ranges::all_of(from, [](float value) { return std::isfinite(value); }))
      throw make_error(ErrorCode::invalid_argument, "row ", first / columns,
                       " has numbers that are not finite: it cannot be rounded to 8 bits");
    scales[group] = scale_of(from);
    for (std::size_t i = 0; i < length; ++i)
      stored[first + i] = static_cast<std::int8_t>(round_to_stored(from[i], scales[group]));
  }
  return rounded;
}

}  // namespace alate::tensor
