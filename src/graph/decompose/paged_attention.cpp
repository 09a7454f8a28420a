#include <algorithm>
#include <limits>

#include "graph/decompose.h"

namespace alate::graph {

Value decompose_paged_attention(Builder& b, std::span<const Value> operands, const Attention& attributes) {
  const Value query = operands[0], table = operands[3], lengths = operands[4], query_lengths = operands[5];
  const Dims queries = b.shape(query).dims;
  const Dim longest = b.shape(table).dims[1].number() * b.shape(operands[1]).dims[1].number();
  const Dims key_dims{queries[0], longest};
  const auto by_sequence = [&](Value value, const Dims& dims) {
    return b.broadcast_in_dim({value}, {.dims = dims, .mapping = {0}});
  };
  const auto places = [&](const Dims& dims, std::int64_t axis) {
    return b.iota({}, {.dtype = DType::i32, .dims = dims, .axis = axis});
  };

  // A page's slots past a sequence's end may hold anything, even NaN, which a weight of 0 would not hide.
  const Value inside = b.less({places(key_dims, 1), by_sequence(lengths, key_dims)});
  const auto rows_of = [&](Value pages) {
    const Dims from = b.shape(pages).dims, to{queries[0], longest, from[2], from[3]};
    const Value rows = b.reshape({take_rows(b, pages, table)}, {.dims = to});
    return b.select({b.broadcast_in_dim({inside}, {.dims = to, .mapping = {0, 1}}), rows, scalar_like(b, 0, rows)});
  };

  const Dims dims{queries[0], 1, queries[1], longest};
  const Value key = places(dims, 3), number = places(dims, 2);
  const Value first = by_sequence(b.sub({lengths, query_lengths}), dims);
  const Value place = b.add({number, first});
  Value visible =
      b.logical_and({b.less({number, by_sequence(query_lengths, dims)}), b.less({key, by_sequence(lengths, dims)})});
  if (attributes.causal) visible = b.logical_and({visible, b.less_or_equal({key, place})});
  const auto within = [&](std::int64_t window, Value from, Value to) {  // to - from <= window
    const Value distance = b.sub({to, from});
    const auto most = static_cast<double>(std::min<std::int64_t>(window, std::numeric_limits<std::int32_t>::max()));
    visible = b.logical_and({visible, b.less_or_equal({distance, scalar_like(b, most, distance)})});
  };
  if (attributes.window_left >= 0) within(attributes.window_left, key, place);
  if (attributes.window_right >= 0) within(attributes.window_right, place, key);
  const Value none = b.broadcast_in_dim({b.scalar(b.shape(query).dtype, 0)}, {.dims = dims, .mapping = {}});
  const Value bias = b.select({visible, none, scalar_like(b, -std::numeric_limits<double>::infinity(), none)});

  std::vector<Value> inputs = {query, rows_of(operands[1]), rows_of(operands[2]), bias};
  if (attributes.has_sinks) inputs.push_back(operands[6]);
  return b.attention(std::move(inputs), {.scale = attributes.scale,
                                         .has_lengths = false,
                                         .has_bias = true,
                                         .has_sinks = attributes.has_sinks,
                                         .causal = false,
                                         .window_left = -1,
                                         .window_right = -1,
                                         .soft_cap = attributes.soft_cap});
}

}  // namespace alate::graph
