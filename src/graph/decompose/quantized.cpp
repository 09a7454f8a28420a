#include "graph/decompose.h"
#include "graph/decompose/widening.h"
#include "graph/operands.h"

namespace alate::graph {
namespace {

// The rows of scales or zero points [count, ...] for the table's rows at `indices`.
Value rows_of_blocks(Builder& b, Value scales, Value indices, std::int64_t block) {
  if (block > 1) indices = b.div({indices, scalar_like(b, static_cast<double>(block), indices)});
  return take_rows(b, scales, indices);
}

// The entry at `place` of an axis, which is kept with extent 1.
Value at(Builder& b, Value x, std::size_t axis, std::int64_t place) {
  Slice slice{.starts = Dims(b.shape(x).rank(), 0), .limits = b.shape(x).dims, .strides = {}};
  slice.starts[axis] = place;
  slice.limits[axis] = place + 1;
  return b.slice({x}, std::move(slice));
}

// Multiplies each block of `length` numbers by the Walsh-Hadamard matrix, as butterflies of sums and differences.
Value rotate(Builder& b, Value x, std::int64_t length) {
  const Dims dims = b.shape(x).dims;
  const std::size_t halves = dims.size();  // the butterflies' axis, of extent 2
  for (std::int64_t distance = length / 2; distance > 0; distance /= 2) {
    Dims pairs = dims;
    pairs.back() = dims.back().number() / (2 * distance);
    pairs.emplace_back(2);
    pairs.emplace_back(distance);
    const Value numbers = b.reshape({x}, {.dims = pairs});
    const Value first = at(b, numbers, halves, 0), second = at(b, numbers, halves, 1);
    x = b.reshape(
        {b.concatenate({b.add({first, second}), b.sub({first, second})}, {.axis = static_cast<std::int64_t>(halves)})},
        {.dims = dims});
  }
  return x;
}

// x with its last axis cut into groups: [..., groups, length].
Value in_groups(Builder& b, Value x, std::int64_t groups) {
  Dims cut = b.shape(x).dims;
  cut.emplace_back(cut.back().number() / groups);
  cut[cut.size() - 2] = groups;
  return b.reshape({x}, {.dims = cut});
}

Value at_least_min_step(Builder& b, Value step) {
  return b.max({step, scalar_like(b, QuantizedDense::kMinGroupStep, step)});
}

// Rounds each value to the nearest multiple of a 127th of its group's largest magnitude.
Value round_groups(Builder& b, Value x, std::int64_t groups) {
  const Value numbers = in_groups(b, x, groups);
  const Dims cut = b.shape(numbers).dims;
  const auto axis = static_cast<std::int64_t>(cut.size()) - 1;
  const Value most = reduce_keep(b, Op::reduce_max, b.abs({numbers}), {axis});
  const Value step = at_least_min_step(b, b.div({most, scalar_like(b, QuantizedDense::kSymmetricSteps, most)}));
  const Value inverse = b.div({scalar_like(b, 1, step), step});
  const Value place = b.round_nearest_even({b.mul({numbers, broadcast_to(b, inverse, cut)})});
  return b.reshape({b.mul({place, broadcast_to(b, step, cut)})}, {.dims = b.shape(x).dims});
}

// Rounds each value to the nearest of 256 levels from its group's minimum to maximum.
Value quantize_groups(Builder& b, Value x, std::int64_t groups) {
  const Dims dims = b.shape(x).dims;
  const Value numbers = in_groups(b, x, groups);
  const Dims cut = b.shape(numbers).dims;
  const auto axis = static_cast<std::int64_t>(cut.size()) - 1;
  const Value least = reduce_keep(b, Op::reduce_min, numbers, {axis});
  const Value range = b.sub({reduce_keep(b, Op::reduce_max, numbers, {axis}), least});
  const Value step = at_least_min_step(b, b.div({range, scalar_like(b, QuantizedDense::kGroupSteps, range)}));
  const Value inverse = b.div({scalar_like(b, 1, step), step});
  const Value offset = broadcast_to(b, least, cut);
  const Value place = b.round_nearest_even({b.mul({b.sub({numbers, offset}), broadcast_to(b, inverse, cut)})});
  const Value rounded = b.add({b.mul({place, broadcast_to(b, step, cut)}), offset});
  return b.reshape({rounded}, {.dims = dims});
}

}  // namespace

Value decompose_quantized_dense(Builder& b, std::span<const Value> operands, const QuantizedDense& attributes) {
  const auto given = QuantizedDenseOperands<>::of(attributes, operands);
  const DType dtype = b.shape(given.x).dtype;
  Value x = widen(b, given.x);
  if (given.smoothing) x = b.mul({x, broadcast_to(b, widen(b, *given.smoothing), b.shape(x).dims)});
  if (attributes.rotation > 1) x = rotate(b, x, attributes.rotation);
  if (attributes.activation_groups > 0)
    x = attributes.has_symmetric_groups ? round_groups(b, x, attributes.activation_groups)
                                        : quantize_groups(b, x, attributes.activation_groups);
  const DequantizeOperands<> stored{.stored = given.stored, .scales = given.scales, .zero_points = given.zero_points};
  const Value weight = b.dequantize(
      stored.list(),
      stored.flagged({.encoding = attributes.encoding, .blocks = attributes.blocks, .dtype = b.shape(x).dtype}));
  DenseOperands<> product{.x = x, .weight = weight};
  if (given.bias) product.bias = widen(b, *given.bias);
  if (given.residual) product.residual = widen(b, *given.residual);
  return narrow(b, b.dense(product.list(), product.flagged({.activation = attributes.activation})), dtype);
}

// Gathers stored rows with their blocks' scales first, so that only those rows are dequantized.
Value decompose_quantized_embedding(Builder& b, std::span<const Value> operands, const Dequantize& attributes) {
  const auto given = QuantizedEmbeddingOperands<>::of(attributes, operands);
  Value indices = given.indices;
  const std::size_t axes = b.shape(indices).rank();
  DequantizeOperands<> parts{.stored = take_rows(b, given.stored, indices)};
  Dequantize rows = attributes;
  if (!attributes.blocks.empty()) {
    const std::int64_t row_block = attributes.blocks[0];
    // A narrow index dtype may not hold the block's length.
    if (row_block > 1 && b.shape(indices).dtype != DType::u64) indices = b.convert({indices}, {.dtype = DType::i64});
    const auto of_rows = [&](Value scales) {
      Dims once(axes, 1);
      once.push_back(b.shape(scales).dims[1]);
      return row_block == 0 ? b.reshape({scales}, {.dims = once}) : rows_of_blocks(b, scales, indices, row_block);
    };
    if (given.scales) parts.scales = of_rows(*given.scales);
    if (given.zero_points) parts.zero_points = of_rows(*given.zero_points);
    rows.blocks = Numbers(axes, row_block == 0 ? 0 : 1);
    rows.blocks.push_back(attributes.blocks[1]);
  }
  return b.dequantize(parts.list(), std::move(rows));
}

}  // namespace alate::graph
