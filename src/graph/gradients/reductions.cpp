#include <algorithm>
#include <functional>

#include "graph/gradients/rules.h"

namespace alate::graph {
namespace {

void reduce_sum(Backward& call) {
  call.give(0, restore_axes(call.b, call.g(), call.x_shape().dims, call.as<Axes>().axes));
}

// Equal shares to all elements that equal the result.
void reduce_extreme(Backward& call) {
  Builder& b = call.b;
  const Shape x = call.x_shape();
  const Axes axes = call.as<Axes>();
  const Value chosen = b.equal({call.x(), restore_axes(b, call.y(), x.dims, axes.axes)});
  const Value ones = b.convert({chosen}, {.dtype = x.dtype});
  const Value share = b.div({call.g(), b.reduce_sum({ones}, axes)});
  call.give(0, b.mul({ones, restore_axes(b, share, x.dims, axes.axes)}));
}

// The product of the values before and after each element, which is correct with zeros too. Several axes are reduced
// one by one.
void reduce_product(Backward& call) {
  Builder& b = call.b;
  Numbers axes = call.as<Axes>().axes;
  const Shape x = call.x_shape();
  if (axes.size() == 1) {
    const Value before = b.cumulative_product({call.x()}, {.axis = axes[0], .reverse = false, .exclusive = true});
    const Value after = b.cumulative_product({call.x()}, {.axis = axes[0], .reverse = true, .exclusive = true});
    call.give(0, b.mul({restore_axes(b, call.g(), x.dims, axes), b.mul({before, after})}));
    return;
  }
  std::sort(axes.begin(), axes.end(), std::greater<>());
  call.differentiate([&] {
    Value product = b.identity({call.x()});
    for (const std::int64_t axis : axes) product = b.reduce_product({product}, {.axes = {axis}});
    return std::vector{product};
  });
}

constexpr std::string_view kTruth = "truth values and integers do not change by small steps";

constexpr GradientRule kReductionRules[] = {
    {Op::reduce_sum, reduce_sum},
    {Op::reduce_max, reduce_extreme},
    {Op::reduce_min, reduce_extreme},
    {Op::reduce_product, reduce_product},
    zero_gradient(Op::reduce_and, kTruth),
    zero_gradient(Op::reduce_or, kTruth),
    zero_gradient(Op::reduce_xor, kTruth),
    zero_gradient(Op::reduce_bitwise_and, kTruth),
    zero_gradient(Op::reduce_bitwise_or, kTruth),
    zero_gradient(Op::reduce_bitwise_xor, kTruth),
    zero_gradient(Op::arg_min_max, "places do not change by small steps"),
};

}  // namespace

std::span<const GradientRule> reduction_gradients() { return kReductionRules; }

}  // namespace alate::graph
