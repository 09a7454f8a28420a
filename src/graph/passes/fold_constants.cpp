#include <algorithm>

#include "graph/passes.h"
#include "graph/passes/rewriter.h"

namespace alate::graph {
namespace {

const ConstantPtr* constant_of(const Graph& graph, Value value) {
  const Node& node = graph.node(value.node);
  if (node.op != Op::constant) return nullptr;
  return &graph.constants()[static_cast<std::size_t>(std::get<Index>(node.attributes).index)];
}

// Barriers are opaque. Broadcast and dequantized constants are larger than their operands: both are cheaper to compute
// where they are used.
bool is_worth_folding(const Node& node) {
  for (const Op op : {Op::optimization_barrier, Op::scheduling_barrier, Op::broadcast_in_dim, Op::dequantize}) {
    if (node.op == op) return false;
  }
  return op_info(node.op).kind != OpKind::region && !node.operands.empty() && node.results.size() == 1 &&
         node.results[0].is_static();
}

}  // namespace

Graph fold_constants(const Graph& graph) {
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (op_info(node.op).kind == OpKind::leaf) continue;
    const Graph& made = rewriter.builder_at(id).so_far();
    const std::vector<Value> operands = rewriter.mapped(node.operands);
    const bool all_constant = std::all_of(operands.begin(), operands.end(),
                                          [&](Value operand) { return constant_of(made, operand) != nullptr; });
    if (!all_constant || !is_worth_folding(node)) {
      rewriter.copy(id);
      continue;
    }
    std::vector<ConstantPtr> constants;
    for (const Value operand : operands) constants.push_back(*constant_of(made, operand));
    rewriter.replace(id, {rewriter.builder_at(id).constant(
                             make_constant(node.op, node.attributes, node.results[0], std::move(constants)))});
  }
  return rewriter.finish();
}

}  // namespace alate::graph
