// Gradients of slices with runtime starts.
#include "graph/gradients/rules.h"

namespace alate::graph {
namespace {

std::vector<Value> with_places(const Backward& call, std::vector<Value> operands, std::size_t first) {
  for (std::size_t i = first; i < call.node.operands.size(); ++i) operands.push_back(call.x(i));
  return operands;
}

// Both ops clamp starts alike, because the slices have equal sizes.
void dynamic_slice(Backward& call) {
  call.give(0, call.b.dynamic_update_slice(with_places(call, {zeros(call.b, call.x_shape()), call.g()}, 1)));
}

void dynamic_update_slice(Backward& call) {
  Builder& b = call.b;
  const Shape update = call.x_shape(1);
  if (call.wants(0)) call.give(0, b.dynamic_update_slice(with_places(call, {call.g(), zeros(b, update)}, 2)));
  if (call.wants(1)) call.give(1, b.dynamic_slice(with_places(call, {call.g()}, 2), {.slice_sizes = update.dims}));
}

void dynamic_reshape(Backward& call) { call.give(0, call.b.reshape({call.g()}, {.dims = call.x_shape().dims})); }

constexpr GradientRule kDynamicRules[] = {
    {Op::dynamic_slice, dynamic_slice},
    {Op::dynamic_update_slice, dynamic_update_slice},
    zero_gradient(Op::dimension_size, "an extent does not depend on elements"),
    {Op::dynamic_reshape, dynamic_reshape},
};

}  // namespace

std::span<const GradientRule> dynamic_gradients() { return kDynamicRules; }

}  // namespace alate::graph
