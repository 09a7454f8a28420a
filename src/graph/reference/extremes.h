// The largest and smallest values of dtypes, and maximum and minimum as IEEE 754-2019 defines them for floats: NaN if
// either is NaN, and -0 below +0.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "alate/tensor.h"

namespace alate::graph {

template <typename Number>
Number larger(Number x, Number y) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (std::isnan(x) || std::isnan(y)) return x + y;
    if (x == y) return std::signbit(x) ? y : x;
  }
  return x < y ? y : x;
}

template <typename Number>
Number smaller(Number x, Number y) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (std::isnan(x) || std::isnan(y)) return x + y;
    if (x == y) return std::signbit(x) ? x : y;
  }
  return y < x ? y : x;
}

/// A lower (upper) bound of all values of the dtype, in its compute type: double, std::int64_t or std::uint64_t.
template <typename Number>
Number lowest_of(DType dtype) {
  if constexpr (std::is_floating_point_v<Number>) {
    return -std::numeric_limits<Number>::infinity();
  } else {
    return std::numeric_limits<Number>::min() >> (64 - bits_of(dtype));
  }
}

template <typename Number>
Number highest_of(DType dtype) {
  if constexpr (std::is_floating_point_v<Number>) {
    return std::numeric_limits<Number>::infinity();
  } else {
    return std::numeric_limits<Number>::max() >> (64 - bits_of(dtype));
  }
}

}  // namespace alate::graph
