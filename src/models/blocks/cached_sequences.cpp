#include "models/blocks/cached_sequences.h"

#include <utility>

#include "alate/error.h"

namespace alate::models {

using graph::Value;

Value CachedSequences::attend(const std::string& layer, const graph::RaggedAttentionOperands<>& operands,
                              const graph::Attention& attributes) {
  if (!attributes.causal)
    throw make_error(ErrorCode::unsupported, "the tokens of layer ", layer,
                     " see later ones, so that texts cannot be continued token by token: config.json's is_causal");
  if (operands.bias || operands.query_distances || operands.key_distances)
    throw make_error(ErrorCode::unsupported, "the attention of layer ", layer,
                     " adds scores by distance, which is not built here for decoding");
  const Cache key = write(layer + "key", operands.key), value = write(layer + "value", operands.value);
  const graph::PagedAttentionOperands<> paged{.query = operands.query,
                                              .key = key.rows,
                                              .value = value.rows,
                                              .table = pages_.table,
                                              .starts = in_.starts,
                                              .lengths = in_.lengths,
                                              .key_lengths = in_.key_lengths,
                                              .sinks = operands.sinks,
                                              .key_scales = key.scales,
                                              .value_scales = value.scales};
  graph::Attention of_pages{.scale = attributes.scale,
                            .causal = true,
                            .window_left = attributes.window_left,
                            .soft_cap = attributes.soft_cap,
                            .longest = attributes.longest};
  return b_.paged_attention(paged.list(), paged.flagged(of_pages));
}

// Integers are symmetric about zero: the largest number of a token and head is 127 times its scale.
CachedSequences::Cache CachedSequences::write(const std::string& name, Value rows) {
  if (dtype_ != DType::i8) return {write(name, dtype_, rows), std::nullopt};
  constexpr double kSteps = 127;
  if (b_.shape(rows).dtype != DType::f32) rows = b_.convert({rows}, {.dtype = DType::f32});
  const graph::Dims dims = b_.shape(rows).dims, of_heads = {dims[0], dims[1], 1};
  const Value largest = b_.reshape({b_.reduce_max({b_.abs({rows})}, {.axes = {2}})}, {.dims = of_heads});
  const Value steps = broadcast_to(b_, b_.scalar(DType::f32, kSteps), of_heads),
              none = broadcast_to(b_, b_.scalar(DType::f32, 0), of_heads);
  const Value inverse = b_.select({b_.equal({largest, none}), none, b_.div({steps, largest})});
  const Value whole = b_.round_nearest_even({b_.mul({rows, broadcast_to(b_, inverse, dims)})});
  return {write(name, DType::i8, b_.convert({whole}, {.dtype = DType::i8})),
          write(name + ".scale", DType::f32, b_.div({largest, steps}))};
}

Value CachedSequences::write(const std::string& name, DType dtype, Value rows) {
  const Shape& shape = b_.shape(rows);
  CacheSpec spec{.name = name, .dtype = dtype, .row = {shape.dims[1].number(), shape.dims[2].number()}};
  const std::size_t parameter = b_.so_far().parameters().size();
  const Value cache =
      b_.parameter(name, {dtype, {pages_.pages, pages_.page_rows, Dim(spec.row[0]), Dim(spec.row[1])}}, true);
  const graph::WritePagesOperands<> operands{.cache = cache, .rows = rows, .slots = pages_.slots};
  const Value written = b_.write_pages(operands.list());
  written_.push_back({std::move(spec), parameter, written});
  return written;
}

CacheLayout CachedSequences::finish() {
  CacheLayout layout;
  for (Written& each : written_) {
    b_.output(each.spec.name, each.value, each.parameter);
    layout.push_back(std::move(each.spec));
  }
  return layout;
}

}  // namespace alate::models
