// Makes a graph from another, node by node: what passes are written with.
#pragma once

#include <optional>
#include <vector>

#include "graph/builder.h"

namespace alate::graph {

/// Visit the old graph's nodes in order and call `copy` or `replace` for each that is needed. Parameters are there from
/// the start, in their order; constants come when something reads them. Regions and dims are shared with the old graph.
class Rewriter {
 public:
  explicit Rewriter(const Graph& old);

  /// The new graph's builder, with the source of the old node set.
  Builder& builder_at(NodeId id);
  /// What stands for old values in the new graph. Throws internal when the old node was neither copied nor replaced.
  Value mapped(Value old);
  std::vector<Value> mapped(std::span<const Value> old);
  /// The node again, over what its operands became; with other regions if any are given. Leaves need no copy.
  void copy(NodeId id, const std::vector<Region>& regions = {});
  /// These values of the new graph stand for the node's results.
  void replace(NodeId id, std::vector<Value> values);
  /// Adds the outputs and gives the graph.
  Graph finish();

 private:
  const Graph& old_;
  Builder builder_;
  std::vector<std::vector<Value>> values_;
};

}  // namespace alate::graph
