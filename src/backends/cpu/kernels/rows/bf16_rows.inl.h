// The row loops of bf16_rows.h for one instruction set. They use integer arithmetic rather than the CPU's conversion,
// which flushes subnormals to zero on some CPUs.
#pragma once

#include "backends/cpu/kernels/rows/bf16_rows.h"
#include "backends/cpu/kernels/vectors/simd.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

using Bf16BitsTag = hn::RebindToUnsigned<FloatTag>;

/// The nearest bf16 in the upper halves, as in an f32; the lower halves are zero.
HWY_INLINE hn::Vec<Bf16BitsTag> nearest_bf16(FloatVector x) {
  const Bf16BitsTag d;
  const auto bits = hn::BitCast(d, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1U));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(d, 0x7fffU)));
  const auto quiet = hn::Or(bits, hn::Set(d, 0x400000U));
  const auto is_nan = hn::RebindMask(d, hn::IsNaN(x));
  return hn::And(hn::IfThenElse(is_nan, quiet, rounded), hn::Set(d, 0xffff0000U));
}

/// Stores the first `count` lanes, at most a whole vector, as the nearest bf16.
HWY_INLINE void store_halves(FloatVector x, std::uint16_t* HWY_RESTRICT to, std::size_t count) {
  const hn::Rebind<std::uint16_t, FloatTag> half;
  const auto rounded = hn::TruncateTo(half, hn::ShiftRight<16>(nearest_bf16(x)));
  if (count >= hn::Lanes(half))
    hn::StoreU(rounded, half, to);
  else
    store_first(rounded, half, to, count);
}

inline void round_row_to_floats(const float* x, std::size_t width, float* out) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= width; i += lanes) hn::StoreU(hn::BitCast(d, nearest_bf16(hn::LoadU(d, x + i))), d, out + i);
  if (i < width) store_first(hn::BitCast(d, nearest_bf16(load_first(d, x + i, width - i))), d, out + i, width - i);
}

inline void round_row_to_halves(const float* HWY_RESTRICT x, std::size_t width, std::uint16_t* HWY_RESTRICT out) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= width; i += lanes) store_halves(hn::LoadU(d, x + i), out + i, lanes);
  if (i < width) store_halves(load_first(d, x + i, width - i), out + i, width - i);
}

inline void round_rows_to_bf16(const Bf16RowArguments& a) {
  for (std::size_t row = 0; row < a.rows; ++row) {
    const float* x = a.x + row * a.x_stride;
    float* words = static_cast<float*>(a.words) + row * a.words_stride;
    if (a.kind == WordKind::bf16) {
      auto* halves = reinterpret_cast<std::uint16_t*>(words);
      round_row_to_halves(x, a.width, halves);
      if (a.width % 2 != 0) halves[a.width] = 0;
    } else {
      round_row_to_floats(x, a.width, words);
    }
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
