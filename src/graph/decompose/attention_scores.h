// Attention weights over a padded batch, shared by the decompositions of attention and of its gradient.
#pragma once

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

}  // namespace alate::graph
