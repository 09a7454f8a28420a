// Node-by-node graph rewriting for passes.
#pragma once

#include <optional>
#include <vector>

#include "graph/builder.h"

namespace alate::graph {

/// Visit the old graph's nodes in order and call `copy` or `replace` for each that is needed. Parameters exist from the
/// start, in order; constants are added when first read. Regions and dims are shared with the old graph.
class Rewriter {
 public:
  explicit Rewriter(const Graph& old);

  /// The new graph's builder, with its source set to the old node's.
  Builder& builder_at(NodeId id);
  /// The new graph's values for old ones. Throws internal if the old node was neither copied nor replaced.
  Value mapped(Value old);
  std::vector<Value> mapped(std::span<const Value> old);
  /// Copies the node over its mapped operands, with other regions if given. Leaves need no copy.
  void copy(NodeId id, const std::vector<Region>& regions = {});
  /// Maps the node's results to these values of the new graph.
  void replace(NodeId id, std::vector<Value> values);
  /// Adds the outputs and returns the graph.
  Graph finish();

 private:
  const Graph& old_;
  Builder builder_;
  std::vector<std::vector<Value>> values_;
};

}  // namespace alate::graph
