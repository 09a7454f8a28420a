#include <cmath>
#include <functional>

#include "graph/reference/elementwise/complex_math.h"
#include "graph/reference/elementwise/elementwise.h"

namespace alate::graph {
namespace {

// Combines a function of doubles and one of complex numbers.
template <typename Real, typename OfComplex>
struct Both {
  Real real;
  OfComplex complex;
  double operator()(double x) const { return real(x); }
  Complex operator()(Complex x) const { return complex(x); }
};
template <typename Real, typename OfComplex>
Both(Real, OfComplex) -> Both<Real, OfComplex>;

}  // namespace

Tensor reference_identity(const ReferenceCall& call) { return call.operand(0); }

Tensor reference_abs(const ReferenceCall& call) {
  const auto magnitude = [](auto x) {
    using Number = decltype(x);
    if constexpr (std::is_same_v<Number, std::uint64_t>) {
      return x;
    } else if constexpr (std::is_same_v<Number, std::int64_t>) {
      return x < 0 ? wrapping(std::negate<>())(x) : x;
    } else {
      return std::abs(x);
    }
  };
  return map_all(call.shape(), magnitude, call.operand(0));
}

Tensor reference_neg(const ReferenceCall& call) {
  return map_all(call.shape(), wrapping(std::negate<>()), call.operand(0));
}

Tensor reference_sign(const ReferenceCall& call) {
  const auto sign = [](auto x) {
    using Number = decltype(x);
    if constexpr (std::is_same_v<Number, Complex>) {
      return sign_of(x);
    } else {
      if (x > 0) return Number{1};
      if constexpr (!std::is_same_v<Number, std::uint64_t>) {
        if (x < 0) return Number{-1};
      }
      return x;  // 0 of either sign, or NaN
    }
  };
  return map_all(call.shape(), sign, call.operand(0));
}

Tensor reference_exp(const ReferenceCall& call) {
  return map_analytic(call, [](auto x) { return std::exp(x); });
}
Tensor reference_expm1(const ReferenceCall& call) {
  return map_analytic(call, Both{[](double x) { return std::expm1(x); }, expm1_of});
}
Tensor reference_log(const ReferenceCall& call) {
  return map_analytic(call, [](auto x) { return std::log(x); });
}
Tensor reference_log1p(const ReferenceCall& call) {
  return map_analytic(call, Both{[](double x) { return std::log1p(x); }, log1p_of});
}
Tensor reference_logistic(const ReferenceCall& call) {
  return map_analytic(call, Both{[](double x) { return 1 / (1 + std::exp(-x)); }, logistic_of});
}
Tensor reference_tanh(const ReferenceCall& call) {
  return map_analytic(call, [](auto x) { return std::tanh(x); });
}
Tensor reference_sin(const ReferenceCall& call) {
  return map_analytic(call, [](auto x) { return std::sin(x); });
}
Tensor reference_cos(const ReferenceCall& call) {
  return map_analytic(call, [](auto x) { return std::cos(x); });
}
Tensor reference_tan(const ReferenceCall& call) {
  return map_analytic(call, [](auto x) { return std::tan(x); });
}
Tensor reference_erf(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return std::erf(x); });
}
Tensor reference_sqrt(const ReferenceCall& call) {
  return map_analytic(call, [](auto x) { return std::sqrt(x); });
}
Tensor reference_rsqrt(const ReferenceCall& call) {
  return map_analytic(
      call, Both{[](double x) { return 1 / std::sqrt(x); }, [](Complex z) { return quotient_of(1, std::sqrt(z)); }});
}
Tensor reference_cbrt(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return std::cbrt(x); });
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

Tensor reference_is_finite(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return std::uint64_t{std::isfinite(x)}; });
}
Tensor reference_is_nan(const ReferenceCall& call) {
  return map_floats(call, [](double x) { return std::uint64_t{std::isnan(x)}; });
}

Tensor reference_logical_not(const ReferenceCall& call) {
  return map_numbers(
      call.shape(), [](auto x) { return std::uint64_t{x == 0}; }, call.operand(0));
}

}  // namespace alate::graph
