#include "alate/error.h"
#include "graph/decompose.h"
#include "graph/decompose/activations.h"
#include "graph/decompose/widening.h"
#include "graph/operands.h"

namespace alate::graph {

Value decompose_softmax(Builder& b, std::span<const Value> operands, const Axis& attributes) {
  const Value x = widen(b, operands[0]);
  const Dims dims = b.shape(x).dims;
  const Value largest = broadcast_to(b, reduce_keep(b, Op::reduce_max, x, {attributes.axis}), dims);
  const Value exponentials = b.exp({b.sub({x, largest})});
  const Value sum = broadcast_to(b, reduce_keep(b, Op::reduce_sum, exponentials, {attributes.axis}), dims);
  return narrow(b, b.div({exponentials, sum}), b.shape(operands[0]).dtype);
}

Value decompose_layer_norm(Builder& b, std::span<const Value> operands, const Norm& attributes) {
  const Value x = widen(b, operands[0]);
  const Dims dims = b.shape(x).dims;
  const auto axis = static_cast<std::int64_t>(dims.size()) - 1;
  const double count = static_cast<double>(dims.back().number());
  const auto mean_of = [&](Value value) {
    const Value sum = reduce_keep(b, Op::reduce_sum, value, {axis});
    return b.div({sum, scalar_like(b, count, sum)});
  };
  const Value centered = b.sub({x, broadcast_to(b, mean_of(x), dims)});
  const Value variance = mean_of(b.mul({centered, centered}));
  const Value factor = b.rsqrt({b.add({variance, scalar_like(b, attributes.epsilon, variance)})});
  const Value normal = b.mul({centered, broadcast_to(b, factor, dims)});
  const Value scaled = b.mul({normal, broadcast_to(b, widen(b, operands[1]), dims)});
  return narrow(b, b.add({scaled, broadcast_to(b, widen(b, operands[2]), dims)}), b.shape(operands[0]).dtype);
}

Value decompose_log_softmax(Builder& b, std::span<const Value> operands, const Axis& attributes) {
  const Value x = widen(b, operands[0]);
  const Dims dims = b.shape(x).dims;
  const Value largest = broadcast_to(b, reduce_keep(b, Op::reduce_max, x, {attributes.axis}), dims);
  const Value shifted = b.sub({x, largest});
  const Value sum = b.log({reduce_keep(b, Op::reduce_sum, b.exp({shifted}), {attributes.axis})});
  return narrow(b, b.sub({shifted, broadcast_to(b, sum, dims)}), b.shape(operands[0]).dtype);
}

Value decompose_rms_norm(Builder& b, std::span<const Value> operands, const Norm& attributes) {
  const Value x = widen(b, operands[0]);
  const Dims dims = b.shape(x).dims;
  const Value squares = reduce_keep(b, Op::reduce_sum, b.mul({x, x}), {static_cast<std::int64_t>(dims.size()) - 1});
  const Value mean = b.div({squares, scalar_like(b, static_cast<double>(dims.back().number()), squares)});
  const Value factor = b.rsqrt({b.add({mean, scalar_like(b, attributes.epsilon, mean)})});
  const Value normal = b.mul({x, broadcast_to(b, factor, dims)});
  return narrow(b, b.mul({normal, broadcast_to(b, widen(b, operands[1]), dims)}), b.shape(operands[0]).dtype);
}

// Channels become [groups, channels per group]; means are over all axes but batch and groups.
Value decompose_group_norm(Builder& b, std::span<const Value> operands, const GroupNorm& attributes) {
  const Value whole = widen(b, operands[0]);
  const Dims dims = b.shape(whole).dims;
  const auto axis = static_cast<std::size_t>(attributes.axis);
  const Dim of_group = dims[axis].number() / attributes.groups;
  Dims split = dims;
  split[axis] = attributes.groups;
  split.insert(split.begin() + attributes.axis + 1, of_group);
  Numbers averaged;
  for (std::size_t i = 1; i < split.size(); ++i) {
    if (i != axis) averaged.push_back(static_cast<std::int64_t>(i));
  }
  const Value x = b.reshape({whole}, {.dims = split});
  // Named dims have no value before a run, so the count is a sum of ones.
  const Value count = reduce_keep(b, Op::reduce_sum, scalar_like(b, 1, x), averaged);
  const auto mean_of = [&](Value value) { return b.div({reduce_keep(b, Op::reduce_sum, value, averaged), count}); };
  const Value centered = b.sub({x, broadcast_to(b, mean_of(x), split)});
  const Value variance = mean_of(b.mul({centered, centered}));
  const Value factor = b.rsqrt({b.add({variance, scalar_like(b, attributes.epsilon, variance)})});
  const Value normal = b.reshape({b.mul({centered, broadcast_to(b, factor, split)})}, {.dims = dims});
  const auto by_channel = [&](Value row) {
    return b.broadcast_in_dim({widen(b, row)}, {.dims = dims, .mapping = {attributes.axis}});
  };
  const Value scaled = b.mul({normal, by_channel(operands[1])});
  return narrow(b, b.add({scaled, by_channel(operands[2])}), b.shape(operands[0]).dtype);
}

Value decompose_normalize(Builder& b, std::span<const Value> operands, const Norm& attributes) {
  const Value x = widen(b, operands[0]);
  const Dims dims = b.shape(x).dims;
  const Value length =
      b.sqrt({reduce_keep(b, Op::reduce_sum, b.mul({x, x}), {static_cast<std::int64_t>(dims.size()) - 1})});
  const Value divisor = b.max({length, scalar_like(b, attributes.epsilon, length)});
  return narrow(b, b.div({x, broadcast_to(b, divisor, dims)}), b.shape(operands[0]).dtype);
}

Value decompose_dense(Builder& b, std::span<const Value> operands, const Dense& attributes) {
  const auto given = DenseOperands<>::of(attributes, operands);
  const DType dtype = b.shape(given.x).dtype;
  Value x = widen(b, given.x);
  if (dtype == DType::f32 && b.shape(given.weight).dtype == DType::bf16)
    x = widen(b, b.convert({x}, {.dtype = DType::bf16}));
  const auto in = static_cast<std::int64_t>(b.shape(x).rank()) - 1;
  Value y = b.dot_general({x, widen(b, given.weight)},
                          {.lhs_batch = {}, .rhs_batch = {}, .lhs_contracting = {in}, .rhs_contracting = {1}});
  const Dims dims = b.shape(y).dims;
  if (given.bias) y = b.add({y, broadcast_to(b, widen(b, *given.bias), dims)});
  y = apply_activation(b, attributes.activation, y);
  if (given.residual) y = b.add({y, widen(b, *given.residual)});
  return narrow(b, y, dtype);
}

}  // namespace alate::graph
