#include <algorithm>
#include <map>

#include "graph/passes.h"
#include "graph/passes/rewriter.h"

namespace alate::graph {
namespace {

// Fingerprint of a node's computation over values of the new graph.
Fingerprint identity_of(const Node& node, const std::vector<Value>& operands) {
  FingerprintBuilder builder;
  builder.add(static_cast<std::uint64_t>(node.op));
  add_attributes(builder, node.attributes, nullptr);
  for (const Value operand : operands) builder.add(std::uint64_t{operand.node}).add(std::uint64_t{operand.result});
  for (const Region& region : node.regions) builder.add(region->fingerprint());
  return builder.finish();
}

}  // namespace

Graph eliminate_common_subexpressions(const Graph& graph) {
  Rewriter rewriter(graph);
  std::map<Fingerprint, NodeId> known;  // the first old node of each
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (op_info(node.op).kind == OpKind::leaf) continue;
    if (node.op == Op::optimization_barrier || node.op == Op::scheduling_barrier) {
      known.clear();
      rewriter.copy(id);
      continue;
    }
    std::vector<Value> operands = rewriter.mapped(node.operands);
    if (op_info(node.op).has(kCommutative)) std::sort(operands.begin(), operands.end());
    const auto [first, is_new] = known.emplace(identity_of(node, operands), id);
    if (is_new) {
      rewriter.copy(id);
      continue;
    }
    std::vector<Value> results;
    for (std::size_t i = 0; i < node.results.size(); ++i)
      results.push_back(rewriter.mapped(Value{first->second, static_cast<std::uint16_t>(i)}));
    rewriter.replace(id, std::move(results));
  }
  return rewriter.finish();
}

}  // namespace alate::graph
