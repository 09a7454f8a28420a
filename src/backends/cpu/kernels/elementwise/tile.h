// Element-wise functions on any computed type, over tiles: short runs of dense elements that stay in the L1 cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "alate/tensor.h"
#include "backends/cpu/kernels/vectors/kernel_set.h"

namespace alate::cpu {

/// StableHLO's ops of these names. On bool the operands and results are bytes of 0 or 1.
enum class TileOp : std::uint8_t {
  // unary
  abs,
  negate,
  sign,
  exp,
  expm1,
  log,
  log1p,
  logistic,
  tanh,
  erf,
  sqrt,
  rsqrt,
  cbrt,
  sin,
  cos,
  tan,
  floor,
  ceil,
  round_nearest_even,
  is_finite,
  is_nan,
  bitwise_not,
  population_count,
  count_leading_zeros,
  real,
  imag,
  conj,
  gelu_erf,  // f32 only
  gelu_tanh,
  silu,
  // binary
  add,
  subtract,
  multiply,
  divide,
  remainder,
  power,
  maximum,
  minimum,
  atan2,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  shift_left,
  shift_right_arithmetic,
  shift_right_logical,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  equal_total_order,
  not_equal_total_order,
  less_total_order,
  less_equal_total_order,
  greater_total_order,
  greater_equal_total_order,
  complex,
  // ternary
  select,
  clamp,  // low, value, high
};

/// out[i] = function(operands[0][i], …) for n dense elements; `context` comes from the lookup, with the function. out
/// may be an operand with the same element size. Starts no threads, allocates and throws nothing.
struct TileKernel {
  void (*run)(const void* const* operands, void* out, std::size_t n, std::uint32_t context) = nullptr;
  std::uint32_t context = 0;

  explicit operator bool() const { return run != nullptr; }
  void operator()(const void* const* operands, void* out, std::size_t n) const { run(operands, out, n, context); }
};

/// The function for operands of `dtype` (for select: of the chosen values): bool, integers of 8 to 64 bits, f32, f64,
/// c64, c128. Empty where the type has no such op, and for types that are computed in another.
TileKernel tile_kernel(TileOp op, DType dtype, const Kernels& set = kernels());

/// Conversion between types, as the op convert defines it. Elements of packed types take a byte each, as by
/// tensor::carrier_of: signed ones sign-extended.
TileKernel tile_conversion(DType from, DType to);

// Bytes that carry elements of a packed integer type.
TileKernel tile_wrap(DType dtype);         // wrapped to the type's number of bits
TileKernel tile_zero_extend(DType dtype);  // the element's bits, zeros above
TileKernel tile_sign_extend(
    DType dtype);  // the element's bits, with the highest one repeated above, whether it is a sign or not
TileKernel tile_shift_up(DType dtype);  // the element's bits as the byte's highest, ones below

// Tables that tile_kernel searches, besides the instruction set's own.
TileKernel tile_kernel_math(TileOp op, DType dtype);     // f64 through the C library
TileKernel tile_kernel_complex(TileOp op, DType dtype);  // c64 and c128

}  // namespace alate::cpu
