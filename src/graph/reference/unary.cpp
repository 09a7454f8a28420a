#include <cmath>
#include <functional>

#include "graph/reference/elementwise.h"

namespace alate::graph {

Tensor reference_abs(const ReferenceCall& call) {
  const auto magnitude = [](auto x) {
    if constexpr (std::is_same_v<decltype(x), double>) return std::fabs(x);
    if constexpr (std::is_same_v<decltype(x), std::int64_t>) return x < 0 ? wrapping(std::negate<>())(x) : x;
    if constexpr (std::is_same_v<decltype(x), std::uint64_t>) return x;
  };
  return map_numbers(call.shape(), magnitude, call.operand(0));
}

Tensor reference_neg(const ReferenceCall& call) {
  return map_numbers(call.shape(), wrapping(std::negate<>()), call.operand(0));
}

Tensor reference_sign(const ReferenceCall& call) {
  const auto sign = [](auto x) {
    using Number = decltype(x);
    if (x > 0) return Number{1};
    if constexpr (!std::is_same_v<Number, std::uint64_t>) {
      if (x < 0) return Number{-1};
    }
    return x;  // 0 of either sign, or NaN
  };
  return map_numbers(call.shape(), sign, call.operand(0));
}

Tensor reference_exp(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return std::exp(x); });
}
Tensor reference_expm1(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return std::expm1(x); });
}
Tensor reference_log(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return std::log(x); });
}
Tensor reference_log1p(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return std::log1p(x); });
}
Tensor reference_logistic(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return 1 / (1 + std::exp(-x)); });
}
Tensor reference_tanh(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return std::tanh(x); });
}
Tensor reference_erf(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return std::erf(x); });
}
Tensor reference_sqrt(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return std::sqrt(x); });
}
Tensor reference_rsqrt(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return 1 / std::sqrt(x); });
}
Tensor reference_floor(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return std::floor(x); });
}
Tensor reference_ceil(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return std::ceil(x); });
}
Tensor reference_round_nearest_even(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return std::nearbyint(x); });  // the process keeps the default rounding mode
}

Tensor reference_logical_not(const ReferenceCall& call) {
  return map_numbers(
      call.shape(), [](auto x) { return std::uint64_t{x == 0}; }, call.operand(0));
}

}  // namespace alate::graph
