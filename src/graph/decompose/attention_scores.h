// The weights of attention over a padded batch, as decompositions of it and of its gradient write them.
#pragma once

#include <optional>
#include <span>

#include "graph/builder.h"

namespace alate::graph {

/// Values widened from halves. Heads are in groups, one for each key/value head.
struct AttentionScores {
  Value query;                  // [batch, queries, kv_heads, group, width]
  Value key, value;             // [batch, keys, kv_heads, …]
  std::optional<Value> capped;  // tanh of the scores, where there is a cap: the dims of weights
  Value weights;                // [batch, kv_heads, queries, group, keys]; zeros where nothing is seen
  std::optional<Value> sinks;   // the sinks' weights, [batch, kv_heads, queries, group, 1]
};

/// `operands` are attention's.
AttentionScores attention_scores(Builder& b, std::span<const Value> operands, const Attention& attributes);

}  // namespace alate::graph
