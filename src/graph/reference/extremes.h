// The larger and the smaller of two values, as IEEE 754-2019's maximum and minimum have it for floats: NaN when either
// is NaN, and -0 below +0.
#pragma once

#include <cmath>
#include <type_traits>

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

}  // namespace alate::graph
