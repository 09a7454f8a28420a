#include "tensor/element.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "alate/error.h"
#include "tensor/half.h"

namespace alate::tensor {
namespace {

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void store(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}

template <typename T>
void store_integer(double value, std::byte* to) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double kHigh =
      static_cast<double>(std::numeric_limits<T>::max());  // 2^63 and 2^64 where the type's own limit rounds up
  if (std::isnan(value)) return store(T{0}, to);
  if (value <= kLow) return store(std::numeric_limits<T>::min(), to);
  if (value >= kHigh) return store(std::numeric_limits<T>::max(), to);
  store(static_cast<T>(value), to);
}

// As store_integer, for a sub-byte integer that occupies a whole byte.
void store_narrow_integer(DType dtype, double value, std::byte* to) {
  const auto patterns = static_cast<double>(1U << bits_of(dtype));
  const double low = is_signed_integer(dtype) ? -patterns / 2 : 0, high = low + patterns - 1;
  const double kept = std::isnan(value) ? 0 : std::trunc(std::clamp(value, low, high));
  store(static_cast<std::int8_t>(kept), to);
}

[[noreturn]] void fail(DType dtype) {
  throw make_error(ErrorCode::unsupported, "an element of dtype ", to_string(dtype),
                   " has no single number: ", to_string(dtype));
}

// Sign or zero extended to 64 bits.
std::uint64_t load_extended(DType dtype, const std::byte* from) {
  switch (dtype) {
    case DType::i8: return static_cast<std::uint64_t>(load<std::int8_t>(from));
    case DType::i16: return static_cast<std::uint64_t>(load<std::int16_t>(from));
    case DType::i32: return static_cast<std::uint64_t>(load<std::int32_t>(from));
    case DType::u8: return load<std::uint8_t>(from);
    case DType::u16: return load<std::uint16_t>(from);
    case DType::u32: return load<std::uint32_t>(from);
    case DType::i64:
    case DType::u64: return load<std::uint64_t>(from);
    default: fail(dtype);
  }
}

}  // namespace

void convert_integers(DType from, const std::byte* in, DType to, std::byte* out, std::size_t count) {
  const std::size_t in_bytes = bytes_for(from, 1), out_bytes = bytes_for(to, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t value = load_extended(from, in + i * in_bytes);
    switch (out_bytes) {
      case 1: store(static_cast<std::uint8_t>(value), out + i); break;
      case 2: store(static_cast<std::uint16_t>(value), out + i * 2); break;
      case 4: store(static_cast<std::uint32_t>(value), out + i * 4); break;
      default: store(value, out + i * 8);
    }
  }
}

double load_double(DType dtype, const std::byte* from) {
  switch (dtype) {
    case DType::boolean: return load<std::uint8_t>(from) != 0 ? 1 : 0;
    case DType::i1:
    case DType::i2:
    case DType::i4:
    case DType::i8: return load<std::int8_t>(from);
    case DType::i16: return load<std::int16_t>(from);
    case DType::i32: return load<std::int32_t>(from);
    case DType::i64: return static_cast<double>(load<std::int64_t>(from));
    case DType::u1:
    case DType::u2:
    case DType::u4:
    case DType::u8: return load<std::uint8_t>(from);
    case DType::u16: return load<std::uint16_t>(from);
    case DType::u32: return load<std::uint32_t>(from);
    case DType::u64: return static_cast<double>(load<std::uint64_t>(from));
    case DType::f16: return f16_to_float(load<std::uint16_t>(from));
    case DType::bf16: return bf16_to_float(load<std::uint16_t>(from));
    case DType::f32: return load<float>(from);
    case DType::f64: return load<double>(from);
    case DType::f8e5m2: return f8e5m2_to_float(load<std::uint8_t>(from));
    case DType::f8e4m3fn: return f8e4m3fn_to_float(load<std::uint8_t>(from));
    case DType::f8e4m3: return widen<kF8e4m3>(load<std::uint8_t>(from));
    case DType::f8e3m4: return widen<kF8e3m4>(load<std::uint8_t>(from));
    case DType::f8e5m2fnuz: return widen<kF8e5m2fnuz>(load<std::uint8_t>(from));
    case DType::f8e4m3fnuz: return widen<kF8e4m3fnuz>(load<std::uint8_t>(from));
    case DType::f8e4m3b11fnuz: return widen<kF8e4m3b11fnuz>(load<std::uint8_t>(from));
    case DType::f4e2m1fn: return widen<kF4e2m1fn>(load<std::uint8_t>(from));
    case DType::f8e8m0fnu: return f8e8m0fnu_to_double(load<std::uint8_t>(from));
    default: fail(dtype);
  }
}

void store_double(DType dtype, double value, std::byte* to) {
  switch (dtype) {
    case DType::boolean: return store<std::uint8_t>(value != 0 ? 1 : 0, to);
    case DType::i8: return store_integer<std::int8_t>(value, to);
    case DType::i16: return store_integer<std::int16_t>(value, to);
    case DType::i32: return store_integer<std::int32_t>(value, to);
    case DType::i64: return store_integer<std::int64_t>(value, to);
    case DType::u8: return store_integer<std::uint8_t>(value, to);
    case DType::u16: return store_integer<std::uint16_t>(value, to);
    case DType::u32: return store_integer<std::uint32_t>(value, to);
    case DType::u64: return store_integer<std::uint64_t>(value, to);
    case DType::f16: return store(double_to_f16(value), to);
    case DType::bf16: return store(double_to_bf16(value), to);
    case DType::f32: return store(static_cast<float>(value), to);
    case DType::f64: return store(value, to);
    case DType::f8e5m2: return store(double_to_f8e5m2(value), to);
    case DType::f8e4m3fn: return store(double_to_f8e4m3fn(value), to);
    case DType::f8e4m3: return store(static_cast<std::uint8_t>(round_to<kF8e4m3>(value)), to);
    case DType::f8e3m4: return store(static_cast<std::uint8_t>(round_to<kF8e3m4>(value)), to);
    case DType::f8e5m2fnuz: return store(static_cast<std::uint8_t>(round_to<kF8e5m2fnuz>(value)), to);
    case DType::f8e4m3fnuz: return store(static_cast<std::uint8_t>(round_to<kF8e4m3fnuz>(value)), to);
    case DType::f8e4m3b11fnuz: return store(static_cast<std::uint8_t>(round_to<kF8e4m3b11fnuz>(value)), to);
    case DType::f4e2m1fn: return store(static_cast<std::uint8_t>(round_to<kF4e2m1fn>(value)), to);
    case DType::f8e8m0fnu: return store(double_to_f8e8m0fnu(value), to);
    case DType::i1:
    case DType::i2:
    case DType::i4:
    case DType::u1:
    case DType::u2:
    case DType::u4: return store_narrow_integer(dtype, value, to);
    default: fail(dtype);
  }
}

}  // namespace alate::tensor
