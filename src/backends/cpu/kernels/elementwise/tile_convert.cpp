// Conversions between types.
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "backends/cpu/kernels/elementwise/tile.h"
#include "tensor/element.h"
#include "tensor/half.h"
#include "tensor/packed.h"

namespace alate::cpu {
namespace {

// Conversion to an integer type: truncates, saturates, NaN becomes 0.
template <typename To, typename From>
To to_integer(From value) {
  // The highest integer rounds up to a power of two where From has fewer bits; every float at or past it saturates.
  constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
  constexpr To kHalf = std::numeric_limits<To>::max() / 2 + 1;
  constexpr From kPastHigh = static_cast<From>(kHalf) * 2;
  if (!(value > kLow)) return value <= kLow ? std::numeric_limits<To>::min() : To{0};
  return value >= kPastHigh ? std::numeric_limits<To>::max() : static_cast<To>(value);
}

// Stands for bool, whose bytes are std::uint8_t's.
struct Bool {};
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, Bool>, std::uint8_t, T>;

template <typename From, typename To>
void convert(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  const auto* from = static_cast<const Stored<From>*>(operands[0]);
  auto* to = static_cast<Stored<To>*>(out);
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<From, To>) {
      to[i] = from[i];
    } else if constexpr (std::is_same_v<To, Bool>) {
      to[i] = from[i] != 0;
    } else if constexpr (std::is_floating_point_v<Stored<From>> && std::is_integral_v<To>) {
      to[i] = to_integer<To>(from[i]);
    } else {
      to[i] = static_cast<To>(from[i]);  // NOLINT(bugprone-signed-char-misuse): signs are extended
    }
  }
}

template <typename From>
TileKernel from_type(DType to) {
  switch (to) {
    case DType::boolean: return {convert<From, Bool>};
    case DType::i8: return {convert<From, std::int8_t>};
    case DType::i16: return {convert<From, std::int16_t>};
    case DType::i32: return {convert<From, std::int32_t>};
    case DType::i64: return {convert<From, std::int64_t>};
    case DType::u8: return {convert<From, std::uint8_t>};
    case DType::u16: return {convert<From, std::uint16_t>};
    case DType::u32: return {convert<From, std::uint32_t>};
    case DType::u64: return {convert<From, std::uint64_t>};
    case DType::f32: return {convert<From, float>};
    case DType::f64: return {convert<From, double>};
    default: return {};
  }
}

TileKernel between_computed(DType from, DType to) {
  switch (from) {
    case DType::boolean: return from_type<Bool>(to);
    case DType::i8: return from_type<std::int8_t>(to);
    case DType::i16: return from_type<std::int16_t>(to);
    case DType::i32: return from_type<std::int32_t>(to);
    case DType::i64: return from_type<std::int64_t>(to);
    case DType::u8: return from_type<std::uint8_t>(to);
    case DType::u16: return from_type<std::uint16_t>(to);
    case DType::u32: return from_type<std::uint32_t>(to);
    case DType::u64: return from_type<std::uint64_t>(to);
    case DType::f32: return from_type<float>(to);
    case DType::f64: return from_type<double>(to);
    default: return {};
  }
}

template <auto kFunction, typename From, typename To>
void each(const void* const* operands, void* out, std::size_t n, std::uint32_t /*context*/) {
  const auto* from = static_cast<const From*>(operands[0]);
  auto* to = static_cast<To*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = kFunction(from[i]);
}

// Between halves and f32: the loads and stores of all half-precision computation.
TileKernel of_halves(DType from, DType to) {
  using Half = std::uint16_t;
  if (to == DType::f32) {
    if (from == DType::f16) return {each<[](Half x) { return tensor::f16_to_float(x); }, Half, float>};
    if (from == DType::bf16) return {each<[](Half x) { return tensor::bf16_to_float(x); }, Half, float>};
  }
  if (from == DType::f32) {
    if (to == DType::f16) return {each<[](float x) { return tensor::float_to_f16(x); }, float, Half>};
    if (to == DType::bf16) return {each<[](float x) { return tensor::float_to_bf16(x); }, float, Half>};
  }
  return {};
}

template <typename T>
std::complex<double> wide(const std::byte* from) {
  std::complex<T> value;
  std::memcpy(&value, from, sizeof value);
  return std::complex<double>(value);
}

// An integer as a double that rounds to any shorter float as the integer itself would: bits that do not fit are folded
// into the lowest bit (rounding to odd).
double to_odd_double(std::uint64_t magnitude) {
  constexpr int kMantissa = 53;
  const int excess = 64 - std::countl_zero(magnitude) - kMantissa;
  if (excess <= 0) return static_cast<double>(magnitude);
  const std::uint64_t lost = magnitude & ((std::uint64_t{1} << excess) - 1);
  return std::ldexp(static_cast<double>(magnitude >> excess | (lost != 0 ? 1U : 0U)), excess);
}

std::complex<double> load(DType dtype, const std::byte* from) {
  switch (dtype) {
    case DType::c64: return wide<float>(from);
    case DType::c128: return wide<double>(from);
    case DType::u64: {
      std::uint64_t value;
      std::memcpy(&value, from, sizeof value);
      return to_odd_double(value);
    }
    case DType::i64: {
      std::int64_t value;
      std::memcpy(&value, from, sizeof value);
      const auto bits = static_cast<std::uint64_t>(value);
      return value < 0 ? -to_odd_double(0 - bits) : to_odd_double(bits);
    }
    default: return tensor::load_double(dtype, from);
  }
}

void store(DType dtype, std::complex<double> value, std::byte* to) {
  if (dtype == DType::c64) {
    const std::complex<float> narrow(value);
    std::memcpy(to, &narrow, sizeof narrow);
  } else if (dtype == DType::c128) {
    std::memcpy(to, &value, sizeof value);
  } else if (dtype == DType::boolean) {
    tensor::store_double(dtype, value.real() != 0 ? 1 : 0, to);
  } else {
    tensor::store_double(dtype, value.real(), to);  // the imaginary part is dropped
  }
}

std::size_t element_bytes(DType dtype) { return bytes_for(tensor::carrier_of(dtype), 1); }

// Rare pairs of types, one element at a time; `context` holds both types.
void convert_each(const void* const* operands, void* out, std::size_t n, std::uint32_t context) {
  const auto from = static_cast<DType>(context >> 16), to = static_cast<DType>(context & 0xFFFF);
  const std::size_t from_bytes = element_bytes(from), to_bytes = element_bytes(to);
  const auto* in = static_cast<const std::byte*>(operands[0]);
  auto* result = static_cast<std::byte*>(out);
  for (std::size_t i = 0; i < n; ++i) store(to, load(from, in + i * from_bytes), result + i * to_bytes);
}

// The same between integers, keeping the low bits.
void convert_integers_each(const void* const* operands, void* out, std::size_t n, std::uint32_t context) {
  const auto from = static_cast<DType>(context >> 16), to = static_cast<DType>(context & 0xFFFF);
  tensor::convert_integers(tensor::carrier_of(from), static_cast<const std::byte*>(operands[0]), tensor::carrier_of(to),
                           static_cast<std::byte*>(out), n);
  const TileKernel wrap = tile_wrap(to);
  const void* made = out;
  if (wrap) wrap(&made, out, n);
}

// To c128, through double.
void convert_to_c128(const void* const* operands, void* out, std::size_t n, std::uint32_t context) {
  constexpr std::size_t kChunk = 64;
  const TileKernel to_double = between_computed(static_cast<DType>(context), DType::f64);
  const std::size_t bytes = bytes_for(static_cast<DType>(context), 1);
  double reals[kChunk];
  for (std::size_t begin = 0; begin < n; begin += kChunk) {
    const std::size_t count = std::min(kChunk, n - begin);
    const void* from = static_cast<const std::byte*>(operands[0]) + begin * bytes;
    to_double(&from, reals, count);
    std::copy_n(reals, count, static_cast<std::complex<double>*>(out) + begin);
  }
}

TileKernel by_way_of_f64(DType from) { return {convert_to_c128, static_cast<std::uint32_t>(from)}; }

template <auto kFunction>
void each_byte(const void* const* operands, void* out, std::size_t n, std::uint32_t context) {
  const auto* from = static_cast<const std::uint8_t*>(operands[0]);
  auto* to = static_cast<std::uint8_t*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<std::uint8_t>(kFunction(from[i], context));
}

constexpr auto kZeroExtended = [](std::uint8_t x, std::uint32_t bits) { return x & ((1U << bits) - 1); };
constexpr auto kSignExtended = [](std::uint8_t x, std::uint32_t bits) {
  return static_cast<std::int8_t>(x << (8 - bits)) >> (8 - bits);
};

std::uint32_t context_of(DType dtype) { return static_cast<std::uint32_t>(bits_of(dtype)); }

}  // namespace

TileKernel tile_zero_extend(DType dtype) { return {each_byte<kZeroExtended>, context_of(dtype)}; }
TileKernel tile_sign_extend(DType dtype) { return {each_byte<kSignExtended>, context_of(dtype)}; }
TileKernel tile_shift_up(DType dtype) {
  return {each_byte<[](std::uint8_t x, std::uint32_t bits) { return x << (8 - bits) | ((1U << (8 - bits)) - 1); }>,
          context_of(dtype)};
}
TileKernel tile_wrap(DType dtype) {
  if (!tensor::is_packed(dtype) || !is_integer(dtype)) return {};
  return is_signed_integer(dtype) ? tile_sign_extend(dtype) : tile_zero_extend(dtype);
}

TileKernel tile_conversion(DType from, DType to) {
  if (const TileKernel found = between_computed(from, to)) return found;
  if (const TileKernel found = of_halves(from, to)) return found;
  if (to == DType::c128 && between_computed(from, DType::f64)) return by_way_of_f64(from);
  if (bits_of(from) == 0 || bits_of(to) == 0) return {};
  if (from == DType::boolean && is_integer(to)) from = DType::u8;  // its bytes are 0 and 1
  const std::uint32_t context = static_cast<std::uint32_t>(from) << 16 | static_cast<std::uint32_t>(to);
  return {is_integer(from) && is_integer(to) ? convert_integers_each : convert_each, context};
}

}  // namespace alate::cpu
