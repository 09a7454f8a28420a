// Conversions between small float types (f16, bf16, f8e4m3fn, f8e5m2), as bit patterns, and float or double. Widening
// is exact. Narrowing rounds once, to nearest, ties to even; subnormals are kept. Overflow becomes infinity, or NaN in
// f8e4m3fn, which has no infinity. NaN becomes a quiet NaN of the same sign. The conversions neither depend on nor
// change the processor's handling of subnormals.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "tensor/small_float.h"

namespace alate::tensor {

inline float f16_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7fffU;
  const std::uint32_t fraction = magnitude & 0x3ffU;
  // The exponent bias changes from 15 to 127; the highest exponent of f16 becomes the highest of f32.
  std::uint32_t bits = (magnitude << 13) + (112U << 23);
  bits = magnitude >= 0x7c00U ? bits + (112U << 23) : bits;
  bits = magnitude > 0x7c00U ? bits | 0x400000U : bits;
  bits = magnitude < 0x400U ? std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * 0x1p-24F) : bits;
  return std::bit_cast<float>(bits | sign);
}

inline std::uint16_t float_to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  // Adding half of the last kept bit, minus one if that bit is even, carries exactly when rounding goes up.
  std::uint32_t half = (magnitude + 0xfffU + ((magnitude >> 13) & 1U) - (112U << 23)) >> 13;
  // Just above 0.5 a float's spacing equals that of subnormal f16, 2^-24, so the addition does the rounding.
  const std::uint32_t small =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
  half = magnitude < 0x38800000U ? small : half;                                   // below 2^-14
  half = magnitude >= 0x47800000U ? 0x7c00U : half;                                // 65536 and above
  half = magnitude > 0x7f800000U ? 0x7e00U | ((magnitude >> 13) & 0x3ffU) : half;  // NaN
  return static_cast<std::uint16_t>(sign | half);
}

inline std::uint16_t double_to_f16(double value) { return static_cast<std::uint16_t>(round_to<kF16>(value)); }

inline float bf16_to_float(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

inline std::uint16_t float_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return static_cast<std::uint16_t>(is_nan ? (bits >> 16) | 0x40U : rounded);
}

inline std::uint16_t double_to_bf16(double value) { return static_cast<std::uint16_t>(round_to<kBf16>(value)); }

/// f8e5m2 is f16 without the low byte of its mantissa.
inline float f8e5m2_to_float(std::uint8_t bits) { return f16_to_float(static_cast<std::uint16_t>(bits << 8)); }
inline std::uint8_t float_to_f8e5m2(float value) { return static_cast<std::uint8_t>(round_to<kF8e5m2>(value)); }
inline std::uint8_t double_to_f8e5m2(double value) { return static_cast<std::uint8_t>(round_to<kF8e5m2>(value)); }

inline float f8e4m3fn_to_float(std::uint8_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x80U) << 24;
  const std::uint32_t magnitude = bits & 0x7fU;
  std::uint32_t wide = (magnitude << 20) + (120U << 23);  // the exponent bias changes from 7 to 127
  wide = magnitude == 0x7fU ? 0x7fc00000U : wide;
  wide = magnitude < 8 ? std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-9F) : wide;
  return std::bit_cast<float>(wide | sign);
}
inline std::uint8_t float_to_f8e4m3fn(float value) { return static_cast<std::uint8_t>(round_to<kF8e4m3fn>(value)); }
inline std::uint8_t double_to_f8e4m3fn(double value) { return static_cast<std::uint8_t>(round_to<kF8e4m3fn>(value)); }

/// Elementwise; the spans must not overlap. Throw internal when the lengths differ.
void f16_to_float(std::span<const std::uint16_t> from, std::span<float> to);
void float_to_f16(std::span<const float> from, std::span<std::uint16_t> to);
void bf16_to_float(std::span<const std::uint16_t> from, std::span<float> to);
void float_to_bf16(std::span<const float> from, std::span<std::uint16_t> to);
void f8e5m2_to_float(std::span<const std::uint8_t> from, std::span<float> to);
void float_to_f8e5m2(std::span<const float> from, std::span<std::uint8_t> to);
void f8e4m3fn_to_float(std::span<const std::uint8_t> from, std::span<float> to);
void float_to_f8e4m3fn(std::span<const float> from, std::span<std::uint8_t> to);

}  // namespace alate::tensor
