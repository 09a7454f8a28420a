// Group-wise quantization of matrix rows to 8-bit integers.
#pragma once

#include <cstdint>
#include <span>

#include "alate/tensor.h"

namespace alate::tensor {

/// Dequantized as stored · scale, with one scale per group (run) of a row: the encoding `linear` without zero points,
/// with blocks {1, columns / groups}, or {1, 0} if a row is one group.
struct ScaledRows {
  /// The largest stored magnitude.
  static constexpr float kMost = 127;

  Tensor stored;  // i8 [rows, columns], -127 … 127
  Tensor scales;  // f32 [rows, groups]; groups divides columns

  std::int64_t groups() const { return scales.extent(1); }
  /// The group size, in columns.
  std::int64_t group_size() const { return stored.extent(1) / groups(); }
};

/// The scale that maps the group's largest magnitude to kMost; a tiny one for all zeros.
float scale_of(std::span<const float> run);

/// The nearest stored value, ties to even.
float round_to_stored(float value, float scale);

/// `matrix` is f32 [rows, columns]; each row is split into `groups` groups of equal size. Throws invalid_argument for
/// another rank, for `groups` that does not divide the columns, and for values that are not finite.
ScaledRows round_rows(const Tensor& matrix, std::int64_t groups = 1);

}  // namespace alate::tensor
