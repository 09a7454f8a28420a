#include "graph/passes.h"
#include "graph/passes/rewriter.h"

namespace alate::graph {
namespace {

// A dead op in a region would still run, and could fail on its operands.
std::vector<Region> live_regions(const Node& node) {
  std::vector<Region> regions;
  for (const Region& region : node.regions)
    regions.push_back(std::make_shared<const Graph>(eliminate_dead_nodes(*region)));
  return regions;
}

}  // namespace

Graph eliminate_dead_nodes(const Graph& graph) {
  std::vector<bool> live(graph.nodes().size());
  for (const Output& output : graph.outputs()) live[output.value.node] = true;
  for (std::size_t id = graph.nodes().size(); id-- > 0;) {
    if (!live[id]) continue;
    for (const Value operand : graph.nodes()[id].operands) live[operand.node] = true;
  }
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    if (live[id]) rewriter.copy(id, live_regions(graph.node(id)));
  }
  return rewriter.finish();
}

}  // namespace alate::graph
