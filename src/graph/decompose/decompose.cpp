#include "graph/decompose.h"

#include "alate/error.h"
#include "graph/passes/rewriter.h"

namespace alate::graph {

std::vector<Value> decompose_node(Builder& b, const Node& node, std::span<const Value> operands) {
  switch (node.op) {
#define ALATE_LEAF_OP(...)
#define ALATE_OP(...)
#define ALATE_REGION_OP(...)
#define ALATE_MULTI_OP(...)
#define ALATE_FUSED_OP(name, arity, attribute, ...) \
  case Op::name: return {decompose_##name(b, operands, std::get<attribute>(node.attributes))};
#define ALATE_MULTI_FUSED_OP(name, arity, attribute, ...) \
  case Op::name: return decompose_##name(b, operands, std::get<attribute>(node.attributes));
#include "graph/ops.def"
    default: throw make_error(ErrorCode::internal, to_string(node.op), " has no decomposition: it is not a fused op");
  }
}

namespace {

// One round: replaces non-native fused ops by simpler ones. `found` is whether there were any.
Graph decompose_once(const Graph& graph, const std::function<bool(const Graph&, const Node&)>& is_native, bool& found) {
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (op_info(node.op).kind != OpKind::fused || is_native(graph, node)) {
      std::vector<Region> regions;
      for (const Region& region : node.regions)
        regions.push_back(std::make_shared<const Graph>(decompose(*region, is_native)));
      rewriter.copy(id, regions);
      continue;
    }
    found = true;
    rewriter.replace(id, decompose_node(rewriter.builder_at(id), node, rewriter.mapped(node.operands)));
  }
  return rewriter.finish();
}

}  // namespace

Graph decompose(const Graph& graph, const std::function<bool(const Graph&, const Node&)>& is_native) {
  Graph result = graph;
  for (bool found = true; found;) {
    found = false;
    result = decompose_once(result, is_native, found);
  }
  return result;
}

}  // namespace alate::graph
