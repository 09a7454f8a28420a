// Floats of at most 16 bits, described by their layout, with generic conversions of single elements. half.h has faster
// ones for the types that models compute with.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace alate::tensor {

/// Bit patterns of a small float that are not finite numbers.
enum class Specials : std::uint8_t {
  ieee,               // the highest exponent is infinity (mantissa 0) or NaN (otherwise)
  nan_of_ones,        // no infinity; all ones except the sign is NaN
  nan_as_minus_zero,  // no infinity and no -0: the pattern of -0 is the only NaN
  none,               // only finite numbers
};

/// Layout of a small float: sign, exponent, mantissa, from the highest bit down.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  Specials specials;
  int bias;

  constexpr int sign_shift() const { return exponent_bits + mantissa_bits; }
  constexpr bool has_infinity() const { return specials == Specials::ieee; }
  /// The first bit pattern above the finite ones.
  constexpr std::uint32_t infinity() const {
    if (specials == Specials::ieee) return ((1U << exponent_bits) - 1) << mantissa_bits;
    return (1U << sign_shift()) - (specials == Specials::nan_of_ones ? 1 : 0);
  }
  /// The quiet NaN without sign; for types that have one.
  constexpr std::uint32_t nan() const { return has_infinity() ? infinity() | (1U << (mantissa_bits - 1)) : infinity(); }
};

inline constexpr SmallFloat kF16{5, 10, Specials::ieee, 15};
inline constexpr SmallFloat kBf16{8, 7, Specials::ieee, 127};
inline constexpr SmallFloat kF8e5m2{5, 2, Specials::ieee, 15};
inline constexpr SmallFloat kF8e4m3{4, 3, Specials::ieee, 7};
inline constexpr SmallFloat kF8e3m4{3, 4, Specials::ieee, 3};
inline constexpr SmallFloat kF8e4m3fn{4, 3, Specials::nan_of_ones, 7};
inline constexpr SmallFloat kF8e5m2fnuz{5, 2, Specials::nan_as_minus_zero, 16};
inline constexpr SmallFloat kF8e4m3fnuz{4, 3, Specials::nan_as_minus_zero, 8};
inline constexpr SmallFloat kF8e4m3b11fnuz{4, 3, Specials::nan_as_minus_zero, 11};
inline constexpr SmallFloat kF4e2m1fn{2, 1, Specials::none, 1};

/// The pattern for a value that is not finite or overflows, as in ml_dtypes.
template <SmallFloat format>
constexpr std::uint32_t beyond_finite(std::uint32_t sign, bool is_nan) {
  if (format.specials == Specials::none) {
    // NaN has no pattern and becomes a zero of the opposite sign; infinities become the largest finite number.
    return is_nan ? sign ^ (1U << format.sign_shift()) : sign | (format.infinity() - 1);
  }
  return sign | (is_nan ? format.nan() : format.infinity());
}

/// The pattern nearest to `value`. A float widens to double exactly, so one function serves both.
template <SmallFloat format>
constexpr std::uint32_t round_to(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 63) << format.sign_shift();
  const std::uint32_t zero = format.specials == Specials::nan_as_minus_zero ? 0 : sign;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const int field = static_cast<int>((bits >> 52) & 0x7ff);
  if (field == 0x7ff) return beyond_finite<format>(sign, fraction != 0);
  if (field == 0) return zero;  // zero, or a subnormal double: far below half of the smallest pattern
  const int exponent = field - 1023;
  const int smallest = 1 - format.bias;
  const int kept = exponent > smallest ? exponent : smallest;  // the exponent that determines the result's spacing
  const int dropped = 52 - format.mantissa_bits + (kept - exponent);
  if (dropped > 53) return zero;  // below half of the smallest pattern
  const std::uint64_t significand = fraction | (std::uint64_t{1} << 52);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  std::uint64_t steps = significand >> dropped;
  const std::uint64_t rest = significand & ((half << 1) - 1);
  if (rest > half || (rest == half && (steps & 1) != 0)) ++steps;
  // The implicit bit in `steps` adds one to the exponent field; so does a carry out of the mantissa.
  const std::uint64_t magnitude = (static_cast<std::uint64_t>(kept - smallest) << format.mantissa_bits) + steps;
  if (magnitude == 0) return zero;
  return magnitude < format.infinity() ? sign | static_cast<std::uint32_t>(magnitude)
                                       : beyond_finite<format>(sign, false);
}

/// The value of a bit pattern.
template <SmallFloat format>
double widen(std::uint32_t bits) {
  const bool is_negative = ((bits >> format.sign_shift()) & 1) != 0;
  const std::uint32_t magnitude = bits & ((1U << format.sign_shift()) - 1);
  const double sign = is_negative ? -1 : 1;
  if (format.specials == Specials::nan_as_minus_zero && is_negative && magnitude == 0)
    return std::numeric_limits<double>::quiet_NaN();
  if (magnitude >= format.infinity()) {
    return std::copysign(magnitude == format.infinity() && format.has_infinity()
                             ? std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN(),
                         sign);
  }
  const int field = static_cast<int>(magnitude >> format.mantissa_bits);
  const std::uint32_t fraction = magnitude & ((1U << format.mantissa_bits) - 1);
  const std::uint32_t significand = field == 0 ? fraction : fraction | (1U << format.mantissa_bits);
  const int exponent = (field == 0 ? 1 : field) - format.bias - format.mantissa_bits;
  return sign * std::ldexp(static_cast<double>(significand), exponent);
}

/// f8e8m0fnu has neither sign nor zero: pattern i is 2^(i - 127), and 0xff is NaN. Ties round up; positive values below
/// the smallest become the smallest; zero, negative and too large values become NaN.
inline double f8e8m0fnu_to_double(std::uint8_t bits) {
  return bits == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
}
inline std::uint8_t double_to_f8e8m0fnu(double value) {
  if (!(value > 0) || std::isinf(value)) return 0xff;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // in [0.5, 1)
  const int field = exponent - 1 + (fraction >= 0.75 ? 1 : 0) + 127;
  if (field < 0) return 0;
  return field > 0xfe ? std::uint8_t{0xff} : static_cast<std::uint8_t>(field);
}

}  // namespace alate::tensor
