// Conversions between the small float types (f16, bf16, f8e4m3fn, f8e5m2), held as bit patterns, and float or double.
// To the wider type they are exact. To the narrower one they round once, to nearest, ties to even; subnormals are kept.
// Beyond the largest finite value come infinities, or NaN in f8e4m3fn, which has no infinity. NaN stays a (quiet) NaN
// of the same sign. None depends on, or changes, the processor's handling of subnormals.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace alate::tensor {

/// Layout of a small float: sign, exponent, mantissa, from the highest bit down.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  // IEEE 754's use of the highest exponent; else only the pattern of all ones is NaN

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int sign_shift() const { return exponent_bits + mantissa_bits; }
  constexpr std::uint32_t nan() const {
    return has_infinity ? infinity() | (1U << (mantissa_bits - 1)) : (1U << sign_shift()) - 1;
  }
  /// The first pattern above the finite ones.
  constexpr std::uint32_t infinity() const {
    return has_infinity ? ((1U << exponent_bits) - 1) << mantissa_bits : (1U << sign_shift()) - 1;
  }
};

inline constexpr SmallFloat kF16{5, 10, true};
inline constexpr SmallFloat kBf16{8, 7, true};
inline constexpr SmallFloat kF8e5m2{5, 2, true};
inline constexpr SmallFloat kF8e4m3fn{4, 3, false};

/// The pattern nearest to `value`. A float widens to double exactly, so this serves both.
template <SmallFloat format>
constexpr std::uint32_t round_to(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 63) << format.sign_shift();
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const int field = static_cast<int>((bits >> 52) & 0x7ff);
  if (field == 0x7ff) return sign | (fraction != 0 ? format.nan() : format.infinity());
  if (field == 0) return sign;  // zero, or a subnormal double: far below half of the smallest pattern
  const int exponent = field - 1023;
  const int smallest = 1 - format.bias();
  const int kept = exponent > smallest ? exponent : smallest;  // the exponent whose steps the result has
  const int dropped = 52 - format.mantissa_bits + (kept - exponent);
  if (dropped > 53) return sign;  // below half of the smallest pattern
  const std::uint64_t significand = fraction | (std::uint64_t{1} << 52);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  std::uint64_t steps = significand >> dropped;
  const std::uint64_t rest = significand & ((half << 1) - 1);
  if (rest > half || (rest == half && (steps & 1) != 0)) ++steps;
  // The implicit bit within `steps` adds one to the exponent's field; so does a carry out of the mantissa.
  const std::uint64_t magnitude = (static_cast<std::uint64_t>(kept - smallest) << format.mantissa_bits) + steps;
  return sign | (magnitude < format.infinity() ? static_cast<std::uint32_t>(magnitude) : format.infinity());
}

inline float f16_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7fffU;
  const std::uint32_t fraction = magnitude & 0x3ffU;
  // The exponent's bias grows from 15 to 127; the highest exponent of f16 becomes the highest of f32.
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
  // Half of the last kept bit, less one when that bit is even, carries exactly where rounding goes up.
  std::uint32_t half = (magnitude + 0xfffU + ((magnitude >> 13) & 1U) - (112U << 23)) >> 13;
  // Next to 0.5 a float's steps are those of a subnormal f16, 2^-24: the addition rounds for us.
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
  std::uint32_t wide = (magnitude << 20) + (120U << 23);  // the exponent's bias grows from 7 to 127
  wide = magnitude == 0x7fU ? 0x7fc00000U : wide;
  wide = magnitude < 8 ? std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-9F) : wide;
  return std::bit_cast<float>(wide | sign);
}
inline std::uint8_t float_to_f8e4m3fn(float value) { return static_cast<std::uint8_t>(round_to<kF8e4m3fn>(value)); }
inline std::uint8_t double_to_f8e4m3fn(double value) { return static_cast<std::uint8_t>(round_to<kF8e4m3fn>(value)); }

/// Element by element; the spans may not overlap. Throw internal when the lengths differ.
void f16_to_float(std::span<const std::uint16_t> from, std::span<float> to);
void float_to_f16(std::span<const float> from, std::span<std::uint16_t> to);
void bf16_to_float(std::span<const std::uint16_t> from, std::span<float> to);
void float_to_bf16(std::span<const float> from, std::span<std::uint16_t> to);
void f8e5m2_to_float(std::span<const std::uint8_t> from, std::span<float> to);
void float_to_f8e5m2(std::span<const float> from, std::span<std::uint8_t> to);
void f8e4m3fn_to_float(std::span<const std::uint8_t> from, std::span<float> to);
void float_to_f8e4m3fn(std::span<const float> from, std::span<std::uint8_t> to);

}  // namespace alate::tensor
