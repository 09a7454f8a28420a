#include <algorithm>
#include <map>

#include "graph/passes.h"
#include "graph/passes/matching.h"

namespace alate::graph {
namespace {

struct Projection {
  NodeId node;
  std::int64_t width;
};

// What projections must have in common to be one product.
using Key = std::tuple<Value, Activation>;

std::map<Key, std::vector<Projection>> find_projections(const Graph& graph) {
  std::map<Key, std::vector<Projection>> groups;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (node.op != Op::dense) continue;
    const auto& dense = std::get<Dense>(node.attributes);
    const Dim width = graph.shape(node.operands[1]).dims[0];
    if (dense.has_residual || !is_constant(graph, node.operands[1]) ||
        (dense.has_bias && !is_constant(graph, node.operands[2])) || !width.is_number())
      continue;
    groups[{node.operands[0], dense.activation}].push_back({id, width.number()});
  }
  return groups;
}

// One product of all weights, and each projection as a slice of it.
void merge(Rewriter& rewriter, const Graph& graph, const std::vector<Projection>& group) {
  Builder& b = rewriter.builder_at(group.front().node);
  const Node& first = graph.node(group.front().node);
  Dense attributes = std::get<Dense>(first.attributes);
  const auto has_bias = [&](const Projection& part) { return graph.node(part.node).operands.size() > 2; };
  attributes.has_bias = std::any_of(group.begin(), group.end(), has_bias);
  const DType dtype = first.results[0].dtype;
  const auto operand = [&](const Projection& part, std::size_t place) {
    if (place < 2 || has_bias(part)) return rewriter.mapped(graph.node(part.node).operands[place]);
    // -0 changes no number that it is added to.
    return constant_row(b, dtype, part.width, -0.0);
  };
  std::vector<Value> inputs = {rewriter.mapped(first.operands[0])};
  for (const std::size_t place : {1u, 2u}) {
    if (place == 2 && !attributes.has_bias) break;
    std::vector<Value> parts;
    for (const Projection& part : group) parts.push_back(operand(part, place));
    inputs.push_back(b.concatenate(std::move(parts), {.axis = 0}));
  }
  const Value product = b.dense(std::move(inputs), attributes);
  const Dims dims = b.shape(product).dims;
  std::int64_t start = 0;
  for (const Projection& part : group) {
    Slice slice{.starts = Dims(dims.size(), 0), .limits = dims, .strides = {}};
    slice.starts.back() = start;
    slice.limits.back() = start += part.width;
    rewriter.replace(part.node, {b.slice({product}, std::move(slice))});
  }
}

}  // namespace

Graph merge_projections(const Graph& graph) {
  std::map<NodeId, std::vector<Projection>> at_first;
  std::vector<bool> merged(graph.nodes().size());
  for (auto& [key, group] : find_projections(graph)) {
    if (group.size() < 2) continue;
    for (const Projection& part : group) merged[part.node] = true;
    const NodeId first = group.front().node;
    at_first.emplace(first, std::move(group));
  }
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    if (const auto found = at_first.find(id); found != at_first.end()) {
      merge(rewriter, graph, found->second);
    } else if (!merged[id]) {
      rewriter.copy(id);
    }
  }
  return rewriter.finish();
}

}  // namespace alate::graph
