// Puts one graph into another.
#pragma once

#include <span>
#include <vector>

#include "graph/builder.h"

namespace alate::graph {

/// Adds the nodes of `graph` to `b`, with `arguments` for its parameters (of their shapes), and returns what its
/// outputs became. A training step is made so: the model's graph, the loss over its outputs, gradients, the optimizer.
/// The graph must share the builder's dim table where it has named dims. Nodes keep their sources; set the builder's
/// again afterwards.
std::vector<Value> inline_graph(Builder& b, const Graph& graph, std::span<const Value> arguments);

}  // namespace alate::graph
