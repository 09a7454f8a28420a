#include <cmath>
#include <functional>
#include <limits>

#include "graph/reference/elementwise.h"
#include "graph/reference/extremes.h"

namespace alate::graph {
namespace {

template <typename Function>
Tensor zip(const ReferenceCall& call, Function function) {
  return map_numbers(call.shape(), function, call.operand(0), call.operand(1));
}

template <typename Relation>
Tensor compare(const ReferenceCall& call, Relation relation) {
  return zip(call, [relation](auto x, auto y) { return std::uint64_t{relation(x, y)}; });
}

// Integer division as StableHLO implementations define it where mathematics does not.
template <typename Number>
Number quotient(Number x, Number y) {
  if constexpr (std::is_integral_v<Number>) {
    if (y == 0) return static_cast<Number>(-1);
    if constexpr (std::is_signed_v<Number>) {
      if (y == -1) return wrapping(std::negate<>())(x);
    }
  }
  return x / y;
}

}  // namespace

Tensor reference_add(const ReferenceCall& call) { return zip(call, wrapping(std::plus<>())); }
Tensor reference_sub(const ReferenceCall& call) { return zip(call, wrapping(std::minus<>())); }
Tensor reference_mul(const ReferenceCall& call) { return zip(call, wrapping(std::multiplies<>())); }
Tensor reference_div(const ReferenceCall& call) {
  return zip(call, [](auto x, auto y) { return quotient(x, y); });
}
Tensor reference_pow(const ReferenceCall& call) {
  return zip(call, [](auto x, auto y) { return std::pow(static_cast<double>(x), static_cast<double>(y)); });
}
Tensor reference_max(const ReferenceCall& call) {
  return zip(call, [](auto x, auto y) { return larger(x, y); });
}
Tensor reference_min(const ReferenceCall& call) {
  return zip(call, [](auto x, auto y) { return smaller(x, y); });
}

Tensor reference_logical_and(const ReferenceCall& call) { return compare(call, std::logical_and<>()); }
Tensor reference_logical_or(const ReferenceCall& call) { return compare(call, std::logical_or<>()); }

Tensor reference_equal(const ReferenceCall& call) { return compare(call, std::equal_to<>()); }
Tensor reference_not_equal(const ReferenceCall& call) { return compare(call, std::not_equal_to<>()); }
Tensor reference_less(const ReferenceCall& call) { return compare(call, std::less<>()); }
Tensor reference_less_or_equal(const ReferenceCall& call) { return compare(call, std::less_equal<>()); }
Tensor reference_greater(const ReferenceCall& call) { return compare(call, std::greater<>()); }
Tensor reference_greater_or_equal(const ReferenceCall& call) { return compare(call, std::greater_equal<>()); }

}  // namespace alate::graph
