// Matrices as 8-bit integers with a scale for each row.
#pragma once

#include <span>

#include "alate/tensor.h"

namespace alate::tensor {

/// stored · scale, row by row: the encoding `linear` with blocks {1, 0} and no zero points.
struct ScaledRows {
  /// The largest magnitude that is stored.
  static constexpr float kMost = 127;

  Tensor stored;  // i8 [rows, columns], -127 … 127
  Tensor scales;  // f32 [rows, 1]
};

/// The scale with which the row's largest magnitude is stored as kMost; a tiny one for rows of zeros.
float row_scale(std::span<const float> row);

/// The nearest stored number, halves to the even one.
float round_to_stored(float value, float scale);

/// `matrix` is f32 [rows, columns]. Throws invalid_argument for another, and where numbers are not finite.
ScaledRows round_rows(const Tensor& matrix);

}  // namespace alate::tensor
