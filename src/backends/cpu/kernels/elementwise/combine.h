// Sum, product and extremes of two values, for every computed type.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "alate/tensor.h"
#include "graph/reference/extremes.h"

namespace alate::cpu {

using graph::larger;
using graph::smaller;

/// Integers wrap.
template <typename T>
T sum_of(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
  } else {
    return x + y;
  }
}
template <typename T>
T product_of(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
  } else if constexpr (std::is_floating_point_v<T>) {
    return x * y;
  } else {
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  }
}

/// Calls `function` with a value of the dtype's type: integers of 8 bits and more, f32 and f64. Returns whether the
/// dtype is one of these.
template <typename Function>
bool with_ordered_type(DType dtype, const Function& function) {
  switch (dtype) {
    case DType::i8: function(std::int8_t{}); return true;
    case DType::i16: function(std::int16_t{}); return true;
    case DType::i32: function(std::int32_t{}); return true;
    case DType::i64: function(std::int64_t{}); return true;
    case DType::u8: function(std::uint8_t{}); return true;
    case DType::u16: function(std::uint16_t{}); return true;
    case DType::u32: function(std::uint32_t{}); return true;
    case DType::u64: function(std::uint64_t{}); return true;
    case DType::f32: function(float{}); return true;
    case DType::f64: function(double{}); return true;
    default: return false;
  }
}

/// The same with complex types too.
template <typename Function>
bool with_number_type(DType dtype, const Function& function) {
  if (dtype == DType::c64) {
    function(std::complex<float>{});
    return true;
  }
  if (dtype == DType::c128) {
    function(std::complex<double>{});
    return true;
  }
  return with_ordered_type(dtype, function);
}

}  // namespace alate::cpu
