// Matrices as 8-bit integers with scales for each row.
#pragma once

#include <cstdint>
#include <span>

#include "alate/tensor.h"

namespace alate::tensor {

/// stored · scale, run by run of a row: the encoding `linear` without zero points, with blocks {1, columns / runs}, and
/// {1, 0} where a row is one run.
struct ScaledRows {
  /// The largest magnitude that is stored.
  static constexpr float kMost = 127;

  Tensor stored;  // i8 [rows, columns], -127 … 127
  Tensor scales;  // f32 [rows, runs]; runs divides columns

  std::int64_t runs() const { return scales.extent(1); }
  /// The columns of a run.
  std::int64_t run_length() const { return stored.extent(1) / runs(); }
};

/// The scale with which the largest magnitude is stored as kMost; a tiny one for zeros.
float scale_of(std::span<const float> run);

/// The nearest stored number, halves to the even one.
float round_to_stored(float value, float scale);

/// `matrix` is f32 [rows, columns], and each row is cut into `runs` of equal length. Throws invalid_argument for
/// another, for runs that do not divide the columns, and where numbers are not finite.
ScaledRows round_rows(const Tensor& matrix, std::int64_t runs = 1);

}  // namespace alate::tensor
