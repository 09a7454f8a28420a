// Inlining of one graph into another.
#pragma once

#include <span>
#include <vector>

#include "graph/builder.h"

namespace alate::graph {

/// Adds the nodes of `graph` to `b`, with `arguments` for its parameters (of their shapes), and returns the values of
/// its outputs. Training steps are built this way: the model's graph, the loss over its outputs, gradients, the
/// optimizer. A graph with named dims must share the builder's dim table. Nodes keep their sources; set the builder's
/// source again afterwards.
std::vector<Value> inline_graph(Builder& b, const Graph& graph, std::span<const Value> arguments);

}  // namespace alate::graph
