// Gradients of element-wise ops of two operands.
#include "graph/gradients/rules.h"

namespace alate::graph {
namespace {

Value like(Backward& call, double value) { return scalar_like(call.b, value, call.y()); }

void sub(Backward& call) {
  call.give(0, call.g());
  if (call.wants(1)) call.give(1, call.b.neg({call.g()}));
}

void mul(Backward& call) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (call.wants(i)) call.give(i, call.b.mul({call.g(), call.x(1 - i)}));
  }
}

void div(Backward& call) {
  Builder& b = call.b;
  const Value quotient = b.div({call.g(), call.x(1)});
  call.give(0, quotient);
  if (call.wants(1)) call.give(1, b.neg({b.mul({quotient, call.y()})}));
}

// x - y · trunc(x / y)
void rem(Backward& call) {
  Builder& b = call.b;
  call.give(0, call.g());
  if (!call.wants(1)) return;
  const Value ratio = b.div({call.x(0), call.x(1)});
  const Value times = b.mul({b.sign({ratio}), b.floor({b.abs({ratio})})});
  call.give(1, b.neg({b.mul({call.g(), times})}));
}

// y · x^(y - 1), which is 0 for y = 0; and log(x) · x^y, where log(0) counts as 0, as in jax.
void pow(Backward& call) {
  Builder& b = call.b;
  const Value x = call.x(0), y = call.x(1), one = like(call, 1);
  if (call.wants(0)) {
    const Value is_constant = b.equal({y, like(call, 0)});
    const Value slope = b.mul({y, b.pow({x, b.select({is_constant, one, b.sub({y, one})})})});
    call.give(0, b.mul({call.g(), b.select({is_constant, zeros(b, call.y_shape()), slope})}));
  }
  if (call.wants(1)) {
    const Value base = b.select({b.equal({x, like(call, 0)}), one, x});
    call.give(1, b.mul({call.g(), b.mul({b.log({base}), call.y()})}));
  }
}

// With r² = x² + y²: x / r² and -y / r², x being operand 1.
void atan2(Backward& call) {
  Builder& b = call.b;
  const Value y = call.x(0), x = call.x(1);
  const Value share = b.div({call.g(), b.add({b.mul({x, x}), b.mul({y, y})})});
  call.give(0, b.mul({share, x}));
  if (call.wants(1)) call.give(1, b.neg({b.mul({share, y})}));
}

// Re(c · (∂x + i ∂y)) = Re(c) ∂x - Im(c) ∂y
void complex(Backward& call) {
  call.give(0, call.b.real({call.g()}));
  if (call.wants(1)) call.give(1, call.b.neg({call.b.imag({call.g()})}));
}

// The whole gradient to the operand that equals the result; half each if both do.
void max_or_min(Backward& call) {
  Builder& b = call.b;
  const Value is_tie = b.equal({call.x(0), call.x(1)});
  const Value share = b.select({is_tie, b.mul({call.g(), like(call, 0.5)}), call.g()});
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (call.wants(i)) call.give(i, b.select({b.equal({call.x(i), call.y()}), share, zeros(b, call.y_shape())}));
  }
}

constexpr std::string_view kTruth = "truth values and integers do not change by small steps";

constexpr GradientRule kBinaryRules[] = {
    {Op::add,
     [](Backward& call) {
       call.give(0, call.g());
       call.give(1, call.g());
     }},
    {Op::sub, sub},
    {Op::mul, mul},
    {Op::div, div},
    {Op::rem, rem},
    {Op::pow, pow},
    {Op::atan2, atan2},
    {Op::complex, complex},
    {Op::max, max_or_min},
    {Op::min, max_or_min},
    zero_gradient(Op::logical_and, kTruth),
    zero_gradient(Op::logical_or, kTruth),
    zero_gradient(Op::logical_xor, kTruth),
    zero_gradient(Op::bitwise_and, kTruth),
    zero_gradient(Op::bitwise_or, kTruth),
    zero_gradient(Op::bitwise_xor, kTruth),
    zero_gradient(Op::shift_left, kTruth),
    zero_gradient(Op::shift_right_arithmetic, kTruth),
    zero_gradient(Op::shift_right_logical, kTruth),
    zero_gradient(Op::equal, kTruth),
    zero_gradient(Op::not_equal, kTruth),
    zero_gradient(Op::less, kTruth),
    zero_gradient(Op::less_or_equal, kTruth),
    zero_gradient(Op::greater, kTruth),
    zero_gradient(Op::greater_or_equal, kTruth),
    zero_gradient(Op::equal_total_order, kTruth),
    zero_gradient(Op::not_equal_total_order, kTruth),
    zero_gradient(Op::less_total_order, kTruth),
    zero_gradient(Op::less_or_equal_total_order, kTruth),
    zero_gradient(Op::greater_total_order, kTruth),
    zero_gradient(Op::greater_or_equal_total_order, kTruth),
};

}  // namespace

std::span<const GradientRule> binary_gradients() { return kBinaryRules; }

}  // namespace alate::graph
