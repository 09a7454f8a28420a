#include <set>

#include "alate/error.h"
#include "graph/graph.h"
#include "graph/infer.h"

namespace alate::graph {
namespace {

[[noreturn]] void fail(const Graph& graph, std::string_view what) {
  throw make_error(ErrorCode::invalid_argument, "graph '", graph.name(), "': ", what);
}

void verify_leaf(const Graph& graph, const Node& node, std::size_t list_size) {
  const auto* index = std::get_if<Index>(&node.attributes);
  if (index == nullptr || index->index < 0 || static_cast<std::uint64_t>(index->index) >= list_size ||
      node.results.size() != 1) {
    fail(graph, std::string(to_string(node.op)) + " names an entry that the graph does not have");
  }
  const auto place = static_cast<std::size_t>(index->index);
  const Shape& stated = node.op == Op::parameter ? graph.parameters()[place].shape : graph.constants()[place]->shape;
  if (stated != node.results.front()) {
    fail(graph, std::string(to_string(node.op)) + " has shape " + graph.dims().to_string(node.results.front()) +
                    " but its entry says " + graph.dims().to_string(stated));
  }
}

void verify_dims(const Graph& graph, const Shape& shape, std::string_view what) {
  if (!is_countable(shape)) fail(graph, std::string(what) + ": the number of elements overflows");
  for (const Dim dim : shape.dims) {
    if (!dim.is_number() && static_cast<std::size_t>(dim.id()) >= graph.dims().size())
      fail(graph, std::string(what) + " uses a dim that is not in the dim table");
  }
}

// "add (from encoder.layer.0)"
std::string described(const Graph& graph, const Node& node) {
  const std::string& source = graph.source(node.source);
  return std::string(to_string(node.op)) + (source.empty() ? "" : " (from " + source + ")");
}

void verify_node(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  for (const Shape& shape : node.results) verify_dims(graph, shape, to_string(node.op));
  if (node.op == Op::parameter) return verify_leaf(graph, node, graph.parameters().size());
  if (node.op == Op::constant) return verify_leaf(graph, node, graph.constants().size());
  const std::string what = described(graph, node);
  std::vector<Shape> operands;
  for (const Value operand : node.operands) {
    if (operand.node >= id || operand.result >= graph.node(operand.node).results.size())
      fail(graph, what + ": operand " + std::to_string(operands.size()) + " is a value that no earlier node makes");
    operands.push_back(graph.shape(operand));
  }
  for (const Region& region : node.regions) {
    if (region == nullptr) fail(graph, what + " has an empty region");
    if (&region->dims() != &graph.dims()) fail(graph, what + " has a region with another dim table");
    for (const Output& output : region->outputs()) {
      if (output.aliases_parameter)
        fail(graph, what + " has a region whose output '" + output.name +
                        "' aliases a parameter: only a whole graph's caller donates buffers");
    }
    verify(*region);
  }
  const InferenceInput input{node.op,      node.attributes,      operands,
                             node.regions, *graph.shared_dims(), graph.source(node.source)};
  const std::vector<Shape> inferred = infer_shapes(input);
  if (inferred != node.results) {
    std::string text = "results are stated as";
    for (const Shape& shape : node.results) text += " " + graph.dims().to_string(shape);
    text += " but inferred as";
    for (const Shape& shape : inferred) text += " " + graph.dims().to_string(shape);
    input.fail(text);
  }
}

void verify_outputs(const Graph& graph) {
  std::set<std::string_view> names;
  std::set<std::size_t> aliased;
  for (const Output& output : graph.outputs()) {
    if (!names.insert(output.name).second) fail(graph, "two outputs are named '" + output.name + "'");
    if (output.value.node >= graph.nodes().size() ||
        output.value.result >= graph.node(output.value.node).results.size()) {
      fail(graph, "output '" + output.name + "' is a value that no node makes");
    }
    if (!output.aliases_parameter) continue;
    const std::size_t place = *output.aliases_parameter;
    if (place >= graph.parameters().size() || !graph.parameters()[place].donatable) {
      fail(graph, "output '" + output.name + "' aliases a parameter that is not donatable");
    }
    if (graph.parameters()[place].shape != graph.shape(output.value))
      fail(graph, "output '" + output.name + "' aliases a parameter of another shape");
    if (!aliased.insert(place).second)
      fail(graph, "two outputs alias parameter '" + graph.parameters()[place].name + "'");
  }
}

}  // namespace

void verify(const Graph& graph) {
  for (const Parameter& parameter : graph.parameters()) verify_dims(graph, parameter.shape, parameter.name);
  for (const ConstantPtr& constant : graph.constants()) {
    if (constant == nullptr || !constant->shape.is_static()) fail(graph, "a constant needs a shape of numbers");
  }
  for (NodeId id = 0; id < graph.nodes().size(); ++id) verify_node(graph, id);
  verify_outputs(graph);
}

}  // namespace alate::graph
