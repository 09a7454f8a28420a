#include <cmath>
#include <functional>
#include <limits>

#include "graph/reference/elementwise/complex_math.h"
#include "graph/reference/elementwise/elementwise.h"
#include "graph/reference/extremes.h"

namespace alate::graph {
namespace {

template <typename Function>
Tensor zip(const ReferenceCall& call, Function function) {
  return map_numbers(call.shape(), function, call.operand(0), call.operand(1));
}

// For a function that takes Complex too.
template <typename Function>
Tensor zip_all(const ReferenceCall& call, Function function) {
  return map_all(call.shape(), function, call.operand(0), call.operand(1));
}

template <typename Relation>
Tensor compare(const ReferenceCall& call, Relation relation) {
  return zip(call, [relation](auto x, auto y) { return std::uint64_t{relation(x, y)}; });
}

template <typename Relation>
Tensor compare_order(const ReferenceCall& call, Relation relation) {
  return zip_all(call, [relation]<typename Number>(Number x, Number y) {
    if constexpr (std::is_same_v<Number, Complex>) {
      return std::uint64_t{holds_lexicographically(relation, x, y)};
    } else {
      return std::uint64_t{relation(x, y)};
    }
  });
}

// Integer division, with StableHLO implementations' results where it is mathematically undefined.
template <typename Number>
Number quotient(Number x, Number y) {
  if constexpr (std::is_same_v<Number, Complex>) {
    return quotient_of(x, y);
  } else {
    if constexpr (std::is_integral_v<Number>) {
      if (y == 0) return static_cast<Number>(-1);
      if constexpr (std::is_signed_v<Number>) {
        if (y == -1) return wrapping(std::negate<>())(x);
      }
    }
    return x / y;
  }
}

template <typename Number>
Number remainder(Number x, Number y) {
  if constexpr (std::is_integral_v<Number>) {
    if (y == 0) return x;
    if constexpr (std::is_signed_v<Number>) {
      if (y == -1) return 0;  // the lowest number too, whose quotient overflows
    }
    return x % y;
  } else {
    return std::fmod(x, y);
  }
}

template <typename Number>
Number power(Number x, Number y) {
  if constexpr (std::is_same_v<Number, Complex>) {
    return power_of(x, y);
  } else if constexpr (std::is_integral_v<Number>) {
    if constexpr (std::is_signed_v<Number>) {
      if (y < 0 && x != 1 && x != -1) return 0;
    }
    std::uint64_t result = 1, base = static_cast<std::uint64_t>(x);
    for (auto left = static_cast<std::uint64_t>(y); left != 0; left /= 2) {
      if (left % 2 != 0) result *= base;
      base *= base;
    }
    return static_cast<Number>(result);  // for x = -1 the parity of y decides, for negative y too
  } else {
    return std::pow(x, y);
  }
}

template <typename Number>
Tensor clamped(const ReferenceCall& call) {
  const auto low = load_as(call.operand(0), Number{}), high = load_as(call.operand(2), Number{});
  auto values = load_as(call.operand(1), Number{});
  const bool one_low = call.operand(0).rank() == 0, one_high = call.operand(2).rank() == 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = smaller(larger(values[i], low[one_low ? 0 : i]), high[one_high ? 0 : i]);
  return store_any(call.shape(), values);
}

}  // namespace

Tensor reference_add(const ReferenceCall& call) { return zip_all(call, wrapping(std::plus<>())); }
Tensor reference_sub(const ReferenceCall& call) { return zip_all(call, wrapping(std::minus<>())); }
Tensor reference_mul(const ReferenceCall& call) {
  return zip_all(call, wrapping([](auto x, auto y) { return product_of(x, y); }));
}
Tensor reference_div(const ReferenceCall& call) {
  return zip_all(call, [](auto x, auto y) { return quotient(x, y); });
}
Tensor reference_rem(const ReferenceCall& call) {
  return zip(call, [](auto x, auto y) { return remainder(x, y); });
}
Tensor reference_pow(const ReferenceCall& call) {
  return zip_all(call, [](auto x, auto y) { return power(x, y); });
}
Tensor reference_atan2(const ReferenceCall& call) {
  return map_as<double>(
      call.shape(), [](double y, double x) { return std::atan2(y, x); }, call.operand(0), call.operand(1));
}
Tensor reference_max(const ReferenceCall& call) {
  return zip_all(call, [](auto x, auto y) { return larger(x, y); });
}
Tensor reference_min(const ReferenceCall& call) {
  return zip_all(call, [](auto x, auto y) { return smaller(x, y); });
}

Tensor reference_logical_and(const ReferenceCall& call) { return compare(call, std::logical_and<>()); }
Tensor reference_logical_or(const ReferenceCall& call) { return compare(call, std::logical_or<>()); }
Tensor reference_logical_xor(const ReferenceCall& call) { return compare(call, std::not_equal_to<>()); }

Tensor reference_equal(const ReferenceCall& call) {
  return zip_all(call, [](auto x, auto y) { return std::uint64_t{x == y}; });
}
Tensor reference_not_equal(const ReferenceCall& call) {
  return zip_all(call, [](auto x, auto y) { return std::uint64_t{x != y}; });
}
Tensor reference_less(const ReferenceCall& call) { return compare_order(call, std::less<>()); }
Tensor reference_less_or_equal(const ReferenceCall& call) { return compare_order(call, std::less_equal<>()); }
Tensor reference_greater(const ReferenceCall& call) { return compare_order(call, std::greater<>()); }
Tensor reference_greater_or_equal(const ReferenceCall& call) { return compare_order(call, std::greater_equal<>()); }

Tensor reference_clamp(const ReferenceCall& call) {
  const Tensor& x = call.operand(1);
  if (is_complex(x.dtype())) return clamped<Complex>(call);
  if (is_float(x.dtype())) return clamped<double>(call);
  return is_signed_integer(x.dtype()) ? clamped<std::int64_t>(call) : clamped<std::uint64_t>(call);
}

}  // namespace alate::graph
