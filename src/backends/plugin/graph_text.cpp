#include "backends/plugin/graph_text.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/builder.h"
#include "graph/passes/rewriter.h"
#include "graph/text/text.h"

namespace alate::plugin {
namespace {

using graph::ConstantPtr;
using graph::Graph;
using graph::Node;
using graph::Op;

const ConstantPtr& constant_of(const Graph& graph, const Node& node) {
  return graph.constants()[static_cast<std::size_t>(std::get<graph::Index>(node.attributes).index)];
}

class LeafMaker {
 public:
  explicit LeafMaker(backends::WeightStore& weights) : weights_(weights) {}

  Graph rewrite(const Graph& graph) {
    graph::Rewriter rewriter(graph);
    for (graph::NodeId id = 0; id < graph.nodes().size(); ++id) {
      const Node& node = graph.node(id);
      if (node.op == Op::constant) {
        rewriter.replace(id, {rewriter.builder_at(id).constant(leaf(constant_of(graph, node)))});
        continue;
      }
      std::vector<graph::Region> regions;
      for (const graph::Region& region : node.regions)
        regions.push_back(std::make_shared<const Graph>(rewrite(*region)));
      rewriter.copy(id, regions);
    }
    return rewriter.finish();
  }

 private:
  // One object for each identity, since the text numbers objects.
  ConstantPtr leaf(const ConstantPtr& constant) {
    ConstantPtr& found = leaves_[constant->identity];
    if (found == nullptr)
      found = constant->is_leaf() ? constant
                                  : graph::make_constant(constant->name, weights_.value(constant), constant->identity);
    return found;
  }

  backends::WeightStore& weights_;
  std::map<Fingerprint, ConstantPtr> leaves_;
};

// Collects constants in the order in which the text numbers them: by the first node that reads each.
void collect(const Graph& graph, std::set<const graph::Constant*>& seen, std::vector<ConstantPtr>& constants) {
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::constant && seen.insert(constant_of(graph, node).get()).second)
      constants.push_back(constant_of(graph, node));
    for (const graph::Region& region : node.regions) collect(*region, seen, constants);
  }
}

}  // namespace

GraphText write_graph(const Graph& graph, backends::WeightStore& weights) {
  const Graph leaves = LeafMaker(weights).rewrite(graph);
  GraphText result{.text = graph::print_graph(leaves), .constants = {}};
  std::set<const graph::Constant*> seen;
  collect(leaves, seen, result.constants);
  return result;
}

std::string write_node(const Graph& graph, const Node& node) {
  graph::Builder builder("node", graph.shared_dims());
  std::vector<graph::Value> operands;
  for (std::size_t i = 0; i < node.operands.size(); ++i)
    operands.push_back(builder.parameter("operand" + std::to_string(i), graph.shape(node.operands[i])));
  const std::vector<graph::Value> results = builder.emit(node.op, std::move(operands), node.attributes, node.regions);
  for (std::size_t i = 0; i < results.size(); ++i) builder.output("result" + std::to_string(i), results[i]);
  return graph::print_graph(builder.finish());
}

}  // namespace alate::plugin
