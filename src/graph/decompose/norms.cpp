#include "alate/error.h"
#include "graph/decompose.h"
#include "graph/decompose/activations.h"
#include "graph/decompose/widening.h"

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

Value decompose_normalize(Builder& b, std::span<const Value> operands, const Norm& attributes) {
  const Value x = widen(b, operands[0]);
  const Dims dims = b.shape(x).dims;
  const Value length =
      b.sqrt({reduce_keep(b, Op::reduce_sum, b.mul({x, x}), {static_cast<std::int64_t>(dims.size()) - 1})});
  const Value divisor = b.max({length, scalar_like(b, attributes.epsilon, length)});
  return narrow(b, b.div({x, broadcast_to(b, divisor, dims)}), b.shape(operands[0]).dtype);
}

Value decompose_dense(Builder& b, std::span<const Value> operands, const Dense& attributes) {
  const Value x = widen(b, operands[0]);
  const auto in = static_cast<std::int64_t>(b.shape(x).rank()) - 1;
  Value y = b.dot_general({x, widen(b, operands[1])},
                          {.lhs_batch = {}, .rhs_batch = {}, .lhs_contracting = {in}, .rhs_contracting = {1}});
  const Dims dims = b.shape(y).dims;
  if (attributes.has_bias) y = b.add({y, broadcast_to(b, widen(b, operands[2]), dims)});
  y = apply_activation(b, attributes.activation, y);
  if (attributes.has_residual) y = b.add({y, widen(b, operands.back())});
  return narrow(b, y, b.shape(operands[0]).dtype);
}

}  // namespace alate::graph
