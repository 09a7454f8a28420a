#include "graph/decompose.h"
#include "graph/decompose/widening.h"

namespace alate::graph {
namespace {

// The rows of scales or zero points [count, ...] that belong to the table's rows that `indices` name.
Value rows_of_blocks(Builder& b, Value scales, Value indices, std::int64_t block) {
  if (block > 1) indices = b.div({indices, scalar_like(b, static_cast<double>(block), indices)});
  return take_rows(b, scales, indices);
}

}  // namespace

Value decompose_quantized_dense(Builder& b, std::span<const Value> operands, const QuantizedDense& attributes) {
  const Value x = widen(b, operands[0]);
  const std::span<const Value> stored = operands.subspan(1, operands.size() - (attributes.has_bias ? 2 : 1));
  const Value weight = b.dequantize({stored.begin(), stored.end()}, {.encoding = attributes.encoding,
                                                                     .blocks = attributes.blocks,
                                                                     .has_zero_points = attributes.has_zero_points,
                                                                     .dtype = b.shape(x).dtype});
  std::vector<Value> inputs = {x, weight};
  if (attributes.has_bias) inputs.push_back(widen(b, operands.back()));
  return narrow(b, b.dense(std::move(inputs), {.has_bias = attributes.has_bias}), b.shape(operands[0]).dtype);
}

// Rows are gathered as they are stored, with the scales of their blocks, so that only they become numbers.
Value decompose_quantized_embedding(Builder& b, std::span<const Value> operands, const Dequantize& attributes) {
  Value indices = operands[0];
  const std::size_t axes = b.shape(indices).rank();
  std::vector<Value> parts = {take_rows(b, operands[1], indices)};
  Dequantize rows = attributes;
  if (!attributes.blocks.empty()) {
    const std::int64_t row_block = attributes.blocks[0];
    // A narrow index dtype may not hold the block's length.
    if (row_block > 1 && b.shape(indices).dtype != DType::u64) indices = b.convert({indices}, {.dtype = DType::i64});
    for (const Value scales : operands.subspan(2)) {
      Dims once(axes, 1);
      once.push_back(b.shape(scales).dims[1]);
      parts.push_back(row_block == 0 ? b.reshape({scales}, {.dims = once})
                                     : rows_of_blocks(b, scales, indices, row_block));
    }
    rows.blocks = Numbers(axes, row_block == 0 ? 0 : 1);
    rows.blocks.push_back(attributes.blocks[1]);
  }
  return b.dequantize(std::move(parts), std::move(rows));
}

}  // namespace alate::graph
