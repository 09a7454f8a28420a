// Decomposition of the ops over a paged cache: pages are gathered, and rows are scattered.
#include <limits>

#include "graph/builder_functions.h"
#include "graph/decompose.h"
#include "graph/decompose/attention_scores.h"
#include "graph/decompose/widening.h"
#include "graph/operands.h"

namespace alate::graph {
namespace {

// The rows of so many pages of a cache.
Dim rows_of_pages(Builder& b, Dim pages, const Shape& cache) {
  DimTable& dims = *b.dims();
  return dims.of(dims.form(pages) * cache.dims[1].number());
}

// The rows of each sequence's pages, [sequences, keys, heads, width], in the dtype that attention computes in; zeros
// where `is_key` is false, since other sequences' rows, or none, may be there.
Value cached_rows(Builder& b, Value cache, Value table, Value is_key, DType dtype) {
  const Dims pages = b.shape(cache).dims, keys = b.shape(is_key).dims;
  Value rows = b.reshape({take_rows(b, cache, table)}, {.dims = {keys[0], keys[1], pages[2], pages[3]}});
  if (b.shape(rows).dtype != dtype) rows = b.convert({rows}, {.dtype = dtype});
  const Value is_shown = b.broadcast_in_dim({is_key}, {.dims = b.shape(rows).dims, .mapping = {0, 1}});
  return b.select({is_shown, rows, scalar_like(b, 0, rows)});
}

// A bias [sequences, 1, queries, keys] that hides what a query does not see.
std::optional<Value> hiding_bias(Builder& b, const Attention& attention, Value first_places, const Dims& dims,
                                 DType dtype) {
  const auto query = [&] {
    return b.add({places(b, dims, 2), b.broadcast_in_dim({first_places}, {.dims = dims, .mapping = {0}})});
  };
  const auto key = [&] { return places(b, dims, 3); };
  const std::optional<Value> mask = visible_by_place(b, attention, query, key, {});
  if (!mask) return std::nullopt;
  const Value shown = broadcast_to(b, b.scalar(dtype, 0), dims);
  return b.select({*mask, shown, scalar_like(b, -std::numeric_limits<double>::infinity(), shown)});
}

}  // namespace

Value decompose_write_pages(Builder& b, std::span<const Value> operands, const NoAttributes& attributes) {
  const auto given = WritePagesOperands<>::of(attributes, operands);
  const Shape cache = b.shape(given.cache);
  const Dims rows = {rows_of_pages(b, cache.dims[0], cache), cache.dims[2], cache.dims[3]};
  const Value written =
      b.scatter_set({b.reshape({given.cache}, {.dims = rows}), given.slots, narrow(b, given.rows, cache.dtype)},
                    {.update_window_dims = {1, 2},
                     .inserted_window_dims = {0},
                     .input_batching_dims = {},
                     .scatter_indices_batching_dims = {},
                     .scatter_dims_to_operand_dims = {0},
                     .index_vector_dim = 1});
  return b.reshape({written}, {.dims = cache.dims});
}

// Attention over the sequences, padded to the longest one and to the most pages.
Value decompose_paged_attention(Builder& b, std::span<const Value> operands, const Attention& attributes) {
  const auto given = PagedAttentionOperands<>::of(attributes, operands);
  const Shape query = b.shape(given.query), key = b.shape(given.key);
  const Dims packed = {query.dims[0], query.dims[1], b.shape(given.value).dims[3]}, table = b.shape(given.table).dims;
  if (packed[0] == Dim(0) || table[0] == Dim(0) || key.dims[0] == Dim(0))  // nothing to gather
    return broadcast_to(b, b.scalar(query.dtype, 0), packed);

  const Value wide = widen(b, given.query);
  const DType dtype = b.shape(wide).dtype;
  const Dims keys = {table[0], rows_of_pages(b, table[1], key)};
  const Value is_key =
      b.less({places(b, keys, 1), b.broadcast_in_dim({given.key_lengths}, {.dims = keys, .mapping = {0}})});
  AttentionOperands<> sequences{
      .query = take_rows(b, wide, padded_rows(b, given.starts, given.lengths, attributes.longest)),
      .key = cached_rows(b, given.key, given.table, is_key, dtype),
      .value = cached_rows(b, given.value, given.table, is_key, dtype)};
  sequences.lengths = given.key_lengths;
  sequences.bias = hiding_bias(b, attributes, b.sub({given.key_lengths, given.lengths}),
                               {keys[0], 1, attributes.longest, keys[1]}, dtype);
  if (given.sinks) sequences.sinks = widen(b, *given.sinks);
  const Attention within = sequences.flagged({.scale = attributes.scale, .soft_cap = attributes.soft_cap});
  return packed_heads(b, narrow(b, b.attention(sequences.list(), within), query.dtype), given.starts, given.lengths,
                      packed);
}

}  // namespace alate::graph
