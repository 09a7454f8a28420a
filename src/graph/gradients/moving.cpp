// Gradients of ops that move elements to static positions: gradients move back, and add up where elements were
// repeated.
#include <algorithm>

#include "graph/gradients/rules.h"
#include "graph/window_axis.h"

namespace alate::graph {
namespace {

void reshape(Backward& call) { call.give(0, call.b.reshape({call.g()}, {.dims = call.x_shape().dims})); }

void transpose(Backward& call) {
  const Numbers& permutation = call.as<Permutation>().permutation;
  Numbers inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    inverse[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  call.give(0, call.b.transpose({call.g()}, {.permutation = std::move(inverse)}));
}

// Sums over the broadcast axes; the remaining ones are the operand's axes in the order of the mapping.
void broadcast_in_dim(Backward& call) {
  Builder& b = call.b;
  const auto& [dims, mapping] = call.as<BroadcastInDim>();
  const Shape x = call.x_shape();
  Numbers repeated, kept;  // axes of the result
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const auto place = std::find(mapping.begin(), mapping.end(), static_cast<std::int64_t>(axis));
    const bool is_kept =
        place != mapping.end() && x.dims[static_cast<std::size_t>(place - mapping.begin())] == dims[axis];
    (is_kept ? kept : repeated).push_back(static_cast<std::int64_t>(axis));
  }
  Value g = repeated.empty() ? call.g() : b.reduce_sum({call.g()}, {.axes = repeated});
  Numbers order;  // kept axes as the operand has them
  for (const std::int64_t axis : mapping) {
    const auto place = std::find(kept.begin(), kept.end(), axis);
    if (place != kept.end()) order.push_back(place - kept.begin());
  }
  if (!std::is_sorted(order.begin(), order.end())) g = b.transpose({g}, {.permutation = std::move(order)});
  call.give(0, b.shape(g) == x ? g : b.reshape({g}, {.dims = x.dims}));
}

void concatenate(Backward& call) {
  Builder& b = call.b;
  const auto axis = static_cast<std::size_t>(call.as<Axis>().axis);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < call.node.operands.size(); ++i) {
    const Shape x = call.x_shape(i);
    if (call.node.operands.size() == 1) {
      call.give(i, call.g());
      return;
    }
    Slice part{.starts = Dims(x.rank(), 0), .limits = x.dims, .strides = {}};
    part.starts[axis] = start;
    start += x.dims[axis].number();
    part.limits[axis] = start;
    if (call.wants(i)) call.give(i, b.slice({call.g()}, std::move(part)));
  }
}

// Pads with zeros between the elements for strides and around them for the rest; over a named extent, where that
// padding is unknown, the elements are written into zeros.
void slice(Backward& call) {
  Builder& b = call.b;
  const auto& [starts, limits, strides] = call.as<Slice>();
  const Shape x = call.x_shape(), y = call.y_shape();
  Pad pad{.low = Numbers(x.rank()), .high = Numbers(x.rank()), .interior = Numbers(x.rank())};
  bool is_known = true;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    pad.interior[i] = entry_or(strides, i, 1) - 1;
    if (x.dims[i] == y.dims[i]) continue;
    is_known = is_known && x.dims[i].is_number() && y.dims[i].is_number();
  }
  if (!is_known) {
    const Value spread = b.pad({call.g(), b.scalar(x.dtype, 0)}, pad);
    std::vector<Value> operands{zeros(b, x), spread};
    for (const Dim start : starts) operands.push_back(b.scalar(DType::i64, static_cast<double>(start.number())));
    call.give(0, b.dynamic_update_slice(std::move(operands)));
    return;
  }
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (x.dims[i] == y.dims[i] && pad.interior[i] == 0) continue;  // perhaps named
    pad.low[i] = starts[i].number();
    pad.high[i] = x.dims[i].number() - pad.low[i] - WindowAxis::spread(y.dims[i].number(), pad.interior[i] + 1);
  }
  call.give(0, b.pad({call.g(), b.scalar(x.dtype, 0)}, std::move(pad)));
}

void pad(Backward& call) {
  Builder& b = call.b;
  const Pad pad = call.as<Pad>();
  const Shape x = call.x_shape();
  if (call.wants(0)) {
    Pad edges{.low = {}, .high = {}, .interior = {}};
    for (const std::int64_t low : pad.low) edges.low.push_back(-low);
    for (const std::int64_t high : pad.high) edges.high.push_back(-high);
    const Value inner = b.pad({call.g(), b.scalar(x.dtype, 0)}, std::move(edges));
    Slice every{.starts = Dims(x.rank(), 0), .limits = b.shape(inner).dims, .strides = {}};
    for (std::size_t i = 0; i < x.rank(); ++i) every.strides.push_back(entry_or(pad.interior, i, 0) + 1);
    call.give(0, b.slice({inner}, std::move(every)));
  }
  if (call.wants(1)) {
    const Value inside = broadcast_to(b, b.constant(Tensor::scalar(true)), x.dims);
    const Value is_inside = b.pad({inside, b.constant(Tensor::scalar(false))}, pad);
    Numbers axes;
    for (std::size_t i = 0; i < x.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    const Value outside = b.select({is_inside, zeros(b, call.y_shape()), call.g()});
    call.give(1, b.reduce_sum({outside}, {.axes = std::move(axes)}));
  }
}

void reverse(Backward& call) { call.give(0, call.b.reverse({call.g()}, call.as<Axes>())); }

// Barriers apply to gradients too.
void barrier(Backward& call) {
  std::vector<Value> cotangents;
  for (std::size_t i = 0; i < call.node.operands.size(); ++i) {
    if (call.wants(i)) cotangents.push_back(call.g(i));
  }
  const std::vector<Value> passed = call.b.emit(call.node.op, std::move(cotangents), NoAttributes{});
  for (std::size_t i = 0, next = 0; i < call.node.operands.size(); ++i) {
    if (call.wants(i)) call.give(i, passed[next++]);
  }
}

constexpr GradientRule kMovingRules[] = {
    zero_gradient(Op::iota, "it has no operands"),
    {Op::reshape, reshape},
    {Op::transpose, transpose},
    {Op::broadcast_in_dim, broadcast_in_dim},
    {Op::concatenate, concatenate},
    {Op::slice, slice},
    {Op::pad, pad},
    {Op::reverse, reverse},
    {Op::optimization_barrier, barrier},
    {Op::scheduling_barrier, barrier},
};

}  // namespace

std::span<const GradientRule> movement_gradients() { return kMovingRules; }

}  // namespace alate::graph
