// Extents and strides of dense values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/vectors/scratch.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {

using Strides = std::vector<std::ptrdiff_t>;

inline std::size_t element_bytes(const Shape& shape) { return bytes_for(shape.dtype, 1); }

inline Strides row_major_strides(const Shape& shape) {
  Strides strides(shape.rank());
  std::ptrdiff_t next = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    strides[i] = next;
    next *= static_cast<std::ptrdiff_t>(shape.dims[i].number());
  }
  return strides;
}

inline std::vector<std::size_t> extents(const Shape& shape) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < shape.rank(); ++i) result.push_back(extent_of(shape, i));
  return result;
}

inline bool names_axis(const graph::Numbers& axes, std::size_t axis) {
  return std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != axes.end();
}

/// A dense value seen around one axis: [outer, length, inner].
struct AroundAxis {
  std::size_t outer = 1, length = 1, inner = 1;
};
inline AroundAxis around_axis(const Shape& shape, std::int64_t axis) {
  AroundAxis around;
  const auto at = static_cast<std::size_t>(axis);
  for (std::size_t i = 0; i < shape.rank(); ++i)
    (i < at ? around.outer : i == at ? around.length : around.inner) *= extent_of(shape, i);
  return around;
}

/// Calls `function` with a value of the C++ type of an integer dtype of 8 bits or more, or of bool (a byte).
template <typename Function>
void with_integer_type(DType dtype, const Function& function) {
  switch (dtype) {
    case DType::i8: return function(std::int8_t{});
    case DType::i16: return function(std::int16_t{});
    case DType::i32: return function(std::int32_t{});
    case DType::i64: return function(std::int64_t{});
    case DType::u16: return function(std::uint16_t{});
    case DType::u32: return function(std::uint32_t{});
    case DType::u64: return function(std::uint64_t{});
    default: return function(std::uint8_t{});
  }
}

/// Reads the index at a position of an integer array; u64 values above INT64_MAX are clamped to it.
template <typename T>
std::int64_t index_at(const std::byte* indices, std::ptrdiff_t place) {
  const T value = reinterpret_cast<const T*>(indices)[place];
  if constexpr (sizeof(T) == 8 && static_cast<T>(-1) > T{0}) {
    return static_cast<std::int64_t>(std::min<T>(value, INT64_MAX));
  } else {
    return static_cast<std::int64_t>(value);
  }
}
inline std::int64_t index_at(const Shape& shape, const std::byte* indices, std::ptrdiff_t place) {
  std::int64_t index = 0;
  with_integer_type(shape.dtype, [&]<typename T>(T) { index = index_at<T>(indices, place); });
  return index;
}

}  // namespace alate::cpu
