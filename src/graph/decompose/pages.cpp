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
// where `is_key` is false, since other sequences' rows, rows before all windows, or none may be there.
Value cached_rows(Builder& b, Value cache, std::optional<Value> scales, Value table, Value is_key, DType dtype) {
  const Dims keys = b.shape(is_key).dims;
  const auto rows_of = [&](Value pages) {
    const Dims row = b.shape(pages).dims;
    return narrow(b, b.reshape({take_rows(b, pages, table)}, {.dims = {keys[0], keys[1], row[2], row[3]}}), dtype);
  };
  Value rows = rows_of(cache);
  if (scales) rows = b.mul({rows, broadcast_to(b, rows_of(*scales), b.shape(rows).dims)});
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
  const auto of_keys = [&](Value of_sequences) {
    return b.broadcast_in_dim({of_sequences}, {.dims = keys, .mapping = {0}});
  };
  const Value first_places = b.sub({given.key_lengths, given.lengths});
  Value is_key = b.less({places(b, keys, 1), of_keys(given.key_lengths)});
  if (attributes.window_left >= 0) {
    const Value left = scalar_like(b, static_cast<double>(attributes.window_left), first_places);
    is_key = b.logical_and({is_key, b.greater_or_equal({places(b, keys, 1), of_keys(b.sub({first_places, left}))})});
  }
  AttentionOperands<> sequences{
      .query = take_rows(b, wide, padded_rows(b, given.starts, given.lengths, attributes.longest)),
      .key = cached_rows(b, given.key, given.key_scales, given.table, is_key, dtype),
      .value = cached_rows(b, given.value, given.value_scales, given.table, is_key, dtype)};
  sequences.lengths = given.key_lengths;
  sequences.bias = hiding_bias(b, attributes, first_places, {keys[0], 1, attributes.longest, keys[1]}, dtype);
  if (given.sinks) sequences.sinks = widen(b, *given.sinks);
  const Attention within = sequences.flagged({.scale = attributes.scale, .soft_cap = attributes.soft_cap});
  return packed_heads(b, narrow(b, b.attention(sequences.list(), within), query.dtype), given.starts, given.lengths,
                      packed);
}

}  // namespace alate::graph
