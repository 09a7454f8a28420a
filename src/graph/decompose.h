// Decomposition of fused ops into simpler ones.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/builder.h"

namespace alate::graph {

/// Emits the decomposition of `node`, a fused op, over `operands` of the builder's graph: standard ops, or fused ops of
/// earlier rows of the table. f16 and bf16 are widened to f32 inside, so that all backends agree. Returns the results.
std::vector<Value> decompose_node(Builder& b, const Node& node, std::span<const Value> operands);

/// The graph with every fused op for which `is_native` is false replaced by its decomposition, repeatedly until none is
/// left; also inside regions. `is_native` is never called for standard ops.
Graph decompose(const Graph& graph, const std::function<bool(const Graph&, const Node&)>& is_native);

// One function per fused op, named by the op table.
#define ALATE_LEAF_OP(...)
#define ALATE_OP(...)
#define ALATE_REGION_OP(...)
#define ALATE_MULTI_OP(...)
#define ALATE_FUSED_OP(name, arity, attribute, ...) \
  Value decompose_##name(Builder& b, std::span<const Value> operands, const attribute& attributes);
#define ALATE_MULTI_FUSED_OP(name, arity, attribute, ...) \
  std::vector<Value> decompose_##name(Builder& b, std::span<const Value> operands, const attribute& attributes);
#include "graph/ops.def"

}  // namespace alate::graph
