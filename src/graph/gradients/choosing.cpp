// Gradients of select, clamp, and conversions.
#include "graph/gradients/rules.h"

namespace alate::graph {
namespace {

void select(Backward& call) {
  Builder& b = call.b;
  const Value nothing = zeros(b, call.y_shape());
  if (call.wants(1)) call.give(1, b.select({call.x(0), call.g(), nothing}));
  if (call.wants(2)) call.give(2, b.select({call.x(0), nothing, call.g()}));
}

// Each element's cotangent goes to the operand that the result was taken from; to none where x is at a bound, as in
// jax. Where the bounds cross, that is the upper one.
void clamp(Backward& call) {
  Builder& b = call.b;
  const Dims dims = call.y_shape().dims;
  const Value x = call.x(1), nothing = zeros(b, call.y_shape());
  const Value low = broadcast_to(b, call.x(0), dims), high = broadcast_to(b, call.x(2), dims);
  const auto give_where = [&](std::size_t place, Value chosen) {
    Value gradient = b.select({chosen, call.g(), nothing});
    if (call.x_shape(place).dims != dims) {
      Numbers axes;
      for (std::size_t i = 0; i < dims.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
      gradient = b.reduce_sum({gradient}, {.axes = std::move(axes)});
    }
    call.give(place, gradient);
  };
  if (call.wants(0)) give_where(0, b.logical_and({b.greater({low, x}), b.less({low, high})}));
  if (call.wants(1)) give_where(1, b.logical_and({b.greater({x, low}), b.less({x, high})}));
  if (call.wants(2)) give_where(2, b.less({high, b.max({x, low})}));
}

// For a real operand the cotangent's real part is taken, for a complex one the imaginary part is 0: convert does both.
void convert(Backward& call) { call.give(0, call.b.convert({call.g()}, {.dtype = call.x_shape().dtype})); }

constexpr GradientRule kChoosingRules[] = {
    {Op::select, select},
    {Op::clamp, clamp},
    {Op::convert, convert},
    zero_gradient(Op::bitcast, "bits of numbers have no derivative"),
};

}  // namespace

std::span<const GradientRule> select_gradients() { return kChoosingRules; }

}  // namespace alate::graph
