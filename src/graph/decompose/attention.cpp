#include <limits>

#include "graph/builder_functions.h"
#include "graph/decompose.h"
#include "graph/decompose/attention_scores.h"
#include "graph/decompose/widening.h"
#include "graph/operands.h"

namespace alate::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The attention mask as bool of the scores' dims; none if every key is visible to every query.
std::optional<Value> visible(Builder& b, const Dims& dims, const Attention& attention, std::optional<Value> lengths) {
  const auto query = [&] { return places(b, dims, 2); };
  const auto key = [&] { return places(b, dims, 4); };
  std::optional<Value> mask;
  if (lengths) mask = b.less({key(), b.broadcast_in_dim({*lengths}, {.dims = dims, .mapping = {0}})});
  return visible_by_place(b, attention, query, key, mask);
}

// Broadcasts bias [1 or batch, 1 or heads, queries, keys] to the scores' dims.
Value grouped_bias(Builder& b, Value bias, const Dims& dims) {
  const Dims from = b.shape(bias).dims;
  const bool per_head = from[1] != Dim(1);
  const Value split = b.reshape(
      {bias}, {.dims = {from[0], per_head ? dims[1] : Dim(1), per_head ? dims[3] : Dim(1), from[2], from[3]}});
  const Value ordered = b.transpose({split}, {.permutation = {0, 1, 3, 2, 4}});
  return broadcast_to(b, ordered, dims);
}

// A bias [sequences, heads, longest, longest] of scores by distance [heads, tokens, 2, longest], or [1, heads, longest,
// longest] of those for one token. `axis` is that of the tokens whose scores they are: 1 for queries, 2 for keys;
// `tokens` are those of padded_rows.
Value distance_bias(Builder& b, Value by_distance, Value tokens, std::int64_t axis) {
  const Dims padded = b.shape(tokens).dims, given = b.shape(by_distance).dims;
  const bool is_one = given[1] == Dim(1);
  const Dims pairs = {is_one ? Dim(1) : padded[0], padded[1], padded[1]}, vector = {pairs[0], pairs[1], pairs[2], 1};
  const Value own = places(b, pairs, axis), other = places(b, pairs, 3 - axis);
  const Value zero = scalar_like(b, 0, own), distance = b.sub({other, own}),
              is_ahead = b.greater_or_equal({distance, zero});
  const Value last = b.reduce_max({places(b, {padded[1]}, 0)}, {.axes = {0}});
  const Value length = b.broadcast_in_dim({b.add({last, scalar_like(b, 1, last)})}, {.dims = pairs, .mapping = {}});
  const std::vector<Value> entries = {
      is_one ? zero : b.broadcast_in_dim({tokens}, {.dims = pairs, .mapping = {0, axis}}),
      b.select({is_ahead, scalar_like(b, 1, own), zero}), b.select({is_ahead, distance, b.add({distance, length})})};
  std::vector<Value> columns;
  for (const Value entry : entries) columns.push_back(b.reshape({entry}, {.dims = vector}));
  const Value index = b.concatenate(columns, {.axis = 3});
  return b.gather({by_distance, index}, {.offset_dims = {1},
                                         .collapsed_slice_dims = {1, 2, 3},
                                         .start_index_map = {1, 2, 3},
                                         .index_vector_dim = 3,
                                         .slice_sizes = {given[0], 1, 1, 1}});
}

// The sum of biases whose leading axes may be 1.
Value bias_sum(Builder& b, Value x, Value y) {
  Dims dims = b.shape(x).dims;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == Dim(1)) dims[i] = b.shape(y).dims[i];
  }
  return b.add({broadcast_to(b, x, dims), broadcast_to(b, y, dims)});
}

}  // namespace

Value places(Builder& b, const Dims& dims, std::int64_t axis) {
  return b.iota({}, {.dtype = DType::i32, .dims = dims, .axis = axis});
}

std::optional<Value> visible_by_place(Builder& b, const Attention& attention, const std::function<Value()>& query,
                                      const std::function<Value()>& key, std::optional<Value> mask) {
  const auto both = [&](Value more) { mask = mask ? b.logical_and({*mask, more}) : more; };
  if (attention.causal) both(b.less_or_equal({key(), query()}));
  if (attention.window_left >= 0) {
    const Value q = query();
    both(b.greater_or_equal({key(), b.sub({q, scalar_like(b, static_cast<double>(attention.window_left), q)})}));
  }
  if (attention.window_right >= 0) {
    const Value q = query();
    both(b.less_or_equal({key(), b.add({q, scalar_like(b, static_cast<double>(attention.window_right), q)})}));
  }
  return mask;
}

Value packed_heads(Builder& b, Value padded, Value starts, Value lengths, const Dims& packed) {
  const PackedRows rows = packed_rows(b, starts, lengths, packed[0]);
  const Value taken =
      b.gather({padded, stack(b, {rows.sequence, rows.place}, 1)}, {.offset_dims = {1, 2},
                                                                    .collapsed_slice_dims = {0, 1},
                                                                    .start_index_map = {0, 1},
                                                                    .index_vector_dim = 1,
                                                                    .slice_sizes = {1, 1, packed[1], packed[2]}});
  const Value zeros = broadcast_to(b, b.scalar(b.shape(padded).dtype, 0), packed);
  return b.select({b.broadcast_in_dim({rows.is_of_sequence}, {.dims = packed, .mapping = {0}}), taken, zeros});
}

AttentionScores attention_scores(Builder& b, const AttentionOperands<>& operands, const Attention& attributes) {
  AttentionScores result;
  const Value query = widen(b, operands.query), key = widen(b, operands.key);
  const Dims q = b.shape(query).dims, k = b.shape(key).dims;
  const std::int64_t kv_heads = k[2].number(), group = kv_heads == 0 ? 0 : q[2].number() / kv_heads;

  result.key = key;
  result.value = widen(b, operands.value);
  result.query = b.reshape({query}, {.dims = {q[0], q[1], kv_heads, group, q[3]}});
  Value scores = b.dot_general(
      {result.query, key}, {.lhs_batch = {0, 2}, .rhs_batch = {0, 2}, .lhs_contracting = {4}, .rhs_contracting = {3}});
  const Dims dims = b.shape(scores).dims;
  scores = b.mul({scores, scalar_like(b, attributes.scale, scores)});
  if (attributes.soft_cap > 0) {
    const Value cap = scalar_like(b, attributes.soft_cap, scores);
    result.capped = b.tanh({b.div({scores, cap})});
    scores = b.mul({*result.capped, cap});
  }
  if (operands.bias) scores = b.add({scores, grouped_bias(b, widen(b, *operands.bias), dims)});
  const Value nothing = scalar_like(b, -kInfinity, scores);
  if (const std::optional<Value> mask = visible(b, dims, attributes, operands.lengths))
    scores = b.select({*mask, scores, nothing});

  Value largest = reduce_keep(b, Op::reduce_max, scores, {4});
  std::optional<Value> sinks;
  if (operands.sinks) {
    const Value split = b.reshape({widen(b, *operands.sinks)}, {.dims = {kv_heads, group}});
    sinks = b.broadcast_in_dim({split}, {.dims = b.shape(largest).dims, .mapping = {1, 3}});
    largest = b.max({largest, *sinks});
  }
  // A fully masked row has -inf as its largest score: 0 keeps its exponentials at exp(-inf) = 0.
  largest = b.select({b.equal({largest, scalar_like(b, -kInfinity, largest)}), scalar_like(b, 0, largest), largest});
  const Value exponentials = b.exp({b.sub({scores, broadcast_to(b, largest, dims)})});
  Value sum = reduce_keep(b, Op::reduce_sum, exponentials, {4});
  if (sinks) {
    sinks = b.exp({b.sub({*sinks, largest})});
    sum = b.add({sum, *sinks});
  }
  sum = b.select({b.equal({sum, scalar_like(b, 0, sum)}), scalar_like(b, 1, sum), sum});
  result.weights = b.div({exponentials, broadcast_to(b, sum, dims)});
  if (sinks) result.sinks = b.div({*sinks, sum});
  return result;
}

Value decompose_attention(Builder& b, std::span<const Value> operands, const Attention& attributes) {
  const auto given = AttentionOperands<>::of(attributes, operands);
  const Shape query = b.shape(given.query);
  const AttentionScores scores = attention_scores(b, given, attributes);
  const Value mixed =
      b.dot_general({scores.weights, scores.value},
                    {.lhs_batch = {0, 1}, .rhs_batch = {0, 2}, .lhs_contracting = {4}, .rhs_contracting = {1}});
  const Value ordered = b.transpose({mixed}, {.permutation = {0, 2, 1, 3, 4}});
  Dims dims = query.dims;
  dims[3] = b.shape(scores.value).dims[3];
  return narrow(b, b.reshape({ordered}, {.dims = std::move(dims)}), query.dtype);
}

// Attention over the sequences, padded to the longest one.
Value decompose_ragged_attention(Builder& b, std::span<const Value> operands, const Attention& attributes) {
  const auto given = RaggedAttentionOperands<>::of(attributes, operands);
  const Shape query = b.shape(given.query);
  const Dims packed = {query.dims[0], query.dims[1], b.shape(given.value).dims[2]};
  if (packed[0] == Dim(0) || b.shape(given.starts).dims[0] == Dim(0))  // nothing to gather
    return broadcast_to(b, b.scalar(query.dtype, 0), packed);

  // Sums of biases must not be rounded to half types.
  const bool widens = given.query_distances || given.key_distances;
  const auto wide = [&](Value value) { return widens ? widen(b, value) : value; };
  const Value tokens = padded_rows(b, given.starts, given.lengths, attributes.longest);
  const auto padded = [&](Value value) { return take_rows(b, wide(value), tokens); };
  AttentionOperands<> sequences{.query = padded(given.query), .key = padded(given.key), .value = padded(given.value)};
  // Key lengths may exceed the sequence's length.
  sequences.lengths = given.key_lengths ? b.min({given.lengths, *given.key_lengths}) : given.lengths;
  if (given.bias) sequences.bias = wide(*given.bias);
  if (given.sinks) sequences.sinks = wide(*given.sinks);
  const auto add_distances = [&](const std::optional<Value>& scores, std::int64_t axis) {
    if (!scores) return;
    const Value more = distance_bias(b, wide(*scores), tokens, axis);
    sequences.bias = sequences.bias ? bias_sum(b, *sequences.bias, more) : more;
  };
  add_distances(given.query_distances, 1);
  add_distances(given.key_distances, 2);
  Attention within = sequences.flagged(attributes);
  within.has_query_distances = within.has_key_distances = false;
  within.longest = {};
  const Value mixed = narrow(b, b.attention(sequences.list(), within), query.dtype);
  return packed_heads(b, mixed, given.starts, given.lengths, packed);
}

}  // namespace alate::graph
