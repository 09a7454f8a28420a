// Passes: each makes a better graph of a graph that computes the same.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace alate::graph {

struct Pass {
  std::string_view name;
  Graph (*run)(const Graph&);
};
using PassPipeline = std::vector<Pass>;

/// What each pass did, in order.
struct PassLogEntry {
  std::string_view pass;
  std::size_t nodes_before, nodes_after;
  std::chrono::nanoseconds time;
};
using PassLog = std::vector<PassLogEntry>;

Graph run_passes(Graph graph, const PassPipeline& pipeline, PassLog* log);

/// What every backend wants before it decomposes: folded constants, fused dense products, merged projections.
const PassPipeline& standard_passes();

/// Ops over constants alone become constants with an identity of their own (nothing is computed here; see Constant).
Graph fold_constants(const Graph& graph);
/// Drops nodes and constants that no output needs.
Graph eliminate_dead_nodes(const Graph& graph);
/// dot_general with a weight becomes dense; bias, activation and residual that follow a dense alone move into it.
Graph fuse_dense(const Graph& graph);
/// Dense products of one value with several weights (query, key, value) become one product and slices of it.
Graph merge_projections(const Graph& graph);

}  // namespace alate::graph
