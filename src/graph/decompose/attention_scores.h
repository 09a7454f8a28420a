// Attention weights, masks and padded batches, shared by the decompositions of attention's ops.
#pragma once

#include <functional>
#include <optional>

#include "graph/builder.h"
#include "graph/operands.h"

namespace alate::graph {

/// Values widened from f16 and bf16. Query heads are grouped by key/value head.
struct AttentionScores {
  Value query;                  // [batch, queries, kv_heads, group, width]
  Value key, value;             // [batch, keys, kv_heads, …]
  std::optional<Value> capped;  // tanh(score / soft_cap) where there is a cap; dims as weights
  Value weights;                // [batch, kv_heads, queries, group, keys]; zeros in fully masked rows
  std::optional<Value> sinks;   // the sinks' weights, [batch, kv_heads, queries, group, 1]
};

AttentionScores attention_scores(Builder& b, const AttentionOperands<>& operands, const Attention& attributes);

/// 0, 1, 2, … along an axis, i32.
Value places(Builder& b, const Dims& dims, std::int64_t axis);
/// `mask` (none: all are visible) where a query's window and causality also let it see the key. `query` and `key` give
/// the places of both, i32 of the mask's dims.
std::optional<Value> visible_by_place(Builder& b, const Attention& attention, const std::function<Value()>& query,
                                      const std::function<Value()>& key, std::optional<Value> mask);
/// The rows of packed sequences [tokens, heads, width] from their padded batch [sequences, longest, heads, width];
/// zeros for a token of no sequence. `packed` are the result's dims.
Value packed_heads(Builder& b, Value padded, Value starts, Value lengths, const Dims& packed);

}  // namespace alate::graph
