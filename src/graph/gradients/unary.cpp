// Gradients of element-wise ops of one operand. Derivatives use the result where that is cheaper or exact.
#include <cmath>
#include <numbers>

#include "graph/gradients/rules.h"

namespace alate::graph {
namespace {

Value like(Backward& call, double value) { return scalar_like(call.b, value, call.y()); }
void give_product(Backward& call, Value derivative) { call.give(0, call.b.mul({call.g(), derivative})); }
void give_quotient(Backward& call, Value divisor) { call.give(0, call.b.div({call.g(), divisor})); }

// A real cotangent of a complex operand's part or magnitude.
Value as_complex(Builder& b, Value real) { return b.complex({real, zeros(b, b.shape(real))}); }

// ∂|z| = Re(conj(z) / |z| · ∂z), taken as 0 at 0.
void abs(Backward& call) {
  Builder& b = call.b;
  if (!is_complex(call.x_shape().dtype)) {
    call.give(0, b.select({b.greater_or_equal({call.x(), like(call, 0)}), call.g(), b.neg({call.g()})}));
    return;
  }
  const Value direction = b.conj({b.sign({call.x()})});
  call.give(0, b.mul({as_complex(b, call.g()), direction}));
}

// z / |z|: with s the result, ∂s = (∂z - s² · conj(∂z)) / (2 |z|), taken as 0 at 0. Real signs have derivative 0.
void sign(Backward& call) {
  Builder& b = call.b;
  if (!is_complex(call.x_shape().dtype)) return;
  const Value c = call.g(), s = call.y(), magnitude = b.abs({call.x()});
  const Value across = b.sub({c, b.conj({b.mul({c, b.mul({s, s})})})});
  const Value is_zero = b.equal({magnitude, scalar_like(b, 0, magnitude)});
  const Value divisor = as_complex(b, b.mul({magnitude, scalar_like(b, 2, magnitude)}));
  call.give(0, b.select({is_zero, zeros(b, call.x_shape()), b.div({across, divisor})}));
}

// y (1 - y)
void logistic(Backward& call) { give_product(call, call.b.mul({call.y(), call.b.sub({like(call, 1), call.y()})})); }

// 1 - y², as a product, which stays accurate for y near 1.
void tanh(Backward& call) {
  Builder& b = call.b;
  give_product(call, b.mul({b.sub({like(call, 1), call.y()}), b.add({like(call, 1), call.y()})}));
}

void tan(Backward& call) {
  Builder& b = call.b;
  give_product(call, b.add({like(call, 1), b.mul({call.y(), call.y()})}));
}

void erf(Backward& call) {
  Builder& b = call.b;
  const Value bell = b.exp({b.neg({b.mul({call.x(), call.x()})})});
  give_product(call, b.mul({bell, like(call, 2 / std::sqrt(std::numbers::pi))}));
}

void real(Backward& call) { call.give(0, is_complex(call.x_shape().dtype) ? as_complex(call.b, call.g()) : call.g()); }

// Im(∂z) = Re(-i · ∂z)
void imag(Backward& call) {
  Builder& b = call.b;
  if (!is_complex(call.x_shape().dtype)) return;
  call.give(0, b.complex({zeros(b, call.y_shape()), b.neg({call.g()})}));
}

constexpr std::string_view kSteps = "it is constant between its steps";
constexpr std::string_view kTruth = "truth values and integers do not change by small steps";

constexpr GradientRule kUnaryRules[] = {
    {Op::identity, [](Backward& call) { call.give(0, call.g()); }},
    {Op::abs, abs},
    {Op::neg, [](Backward& call) { call.give(0, call.b.neg({call.g()})); }},
    {Op::sign, sign},
    {Op::exp, [](Backward& call) { give_product(call, call.y()); }},
    {Op::expm1,
     [](Backward& call) {
       give_product(call, call.b.add({call.y(), like(call, 1)}));
     }},
    {Op::log, [](Backward& call) { give_quotient(call, call.x()); }},
    {Op::log1p,
     [](Backward& call) {
       give_quotient(call, call.b.add({call.x(), like(call, 1)}));
     }},
    {Op::logistic, logistic},
    {Op::tanh, tanh},
    {Op::sin, [](Backward& call) { give_product(call, call.b.cos({call.x()})); }},
    {Op::cos, [](Backward& call) { give_product(call, call.b.neg({call.b.sin({call.x()})})); }},
    {Op::tan, tan},
    {Op::erf, erf},
    {Op::sqrt,
     [](Backward& call) {
       give_product(call, call.b.div({like(call, 0.5), call.y()}));
     }},
    {Op::rsqrt,
     [](Backward& call) {
       give_product(call, call.b.mul({like(call, -0.5), call.b.div({call.y(), call.x()})}));
     }},
    {Op::cbrt,
     [](Backward& call) {
       give_product(call, call.b.div({like(call, 1.0 / 3), call.b.mul({call.y(), call.y()})}));
     }},
    zero_gradient(Op::floor, kSteps),
    zero_gradient(Op::ceil, kSteps),
    zero_gradient(Op::round_nearest_even, kSteps),
    zero_gradient(Op::is_finite, kTruth),
    zero_gradient(Op::is_nan, kTruth),
    zero_gradient(Op::logical_not, kTruth),
    zero_gradient(Op::bitwise_not, kTruth),
    zero_gradient(Op::popcnt, kTruth),
    zero_gradient(Op::count_leading_zeros, kTruth),
    {Op::real, real},
    {Op::imag, imag},
    {Op::conj, [](Backward& call) { call.give(0, call.b.conj({call.g()})); }},
};

}  // namespace

std::span<const GradientRule> unary_gradients() { return kUnaryRules; }

}  // namespace alate::graph
