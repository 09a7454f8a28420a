#include "exchange/stablehlo.h"

#include <algorithm>

#include "alate/error.h"
#include "exchange/stablehlo/rules.h"
#include "exchange/stablehlo/types.h"

namespace alate::exchange {
namespace {

using graph::Op;

std::string unspelled_dtype(const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) {
    if (element_type(shape.dtype).empty())
      return "StableHLO has no type for " + std::string(alate::to_string(shape.dtype));
  }
  return {};
}

void require_supported(const graph::Graph& graph, const graph::Node& node) {
  const StableHloSupport support = supports_stablehlo(graph, node);
  if (support.is_supported()) return;
  const std::string& source = graph.source(node.source);
  throw make_error(ErrorCode::unsupported, to_string(node.op), source.empty() ? "" : " of " + source,
                   " cannot be written as StableHLO: ", support.reason);
}

// Nodes with only empty results need not be computed.
bool are_all_empty(const std::vector<Shape>& shapes) {
  return !shapes.empty() && std::ranges::all_of(shapes, [](const Shape& s) { return s.element_count() == 0; });
}

HloValues write_node(HloWriter& w, const HloCall& call) {
  if (are_all_empty(call.shapes) && call.node.op != Op::dynamic_reshape) {
    HloValues values;
    for (const Shape& shape : call.shapes) values.push_back(w.constant(Tensor::zeros(shape)));
    return values;
  }
  const HloSpelling& row = *find_spelling(call.node.op);
  if (row.rule != nullptr) return row.rule(w, call);
  return {w.op(row.spelling, call.operands, call.shape())};
}

// "%parameter0: tensor<f32> {tf.aliasing_output = 0 : i32}, …"
std::string signature(const HloValues& parameters, const graph::Graph& graph, const HloValues& constants) {
  std::vector<std::string> listed;
  for (const HloValue& value : parameters) listed.push_back(value.name + ": " + tensor_type(value.shape));
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    if (const auto& aliased = graph.outputs()[i].aliases_parameter)
      listed.at(*aliased) += " {tf.aliasing_output = " + std::to_string(i) + " : i32}";
  }
  for (const HloValue& value : constants) listed.push_back(value.name + ": " + tensor_type(value.shape));
  std::string text;
  for (const std::string& one : listed) text += (text.empty() ? "" : ", ") + one;
  return text;
}

}  // namespace

HloValues write_nodes(HloWriter& w, const graph::Graph& graph, const graph::DimValues& dims,
                      const HloValues& arguments) {
  std::vector<HloValues> values;
  const auto value_of = [&](graph::Value value) { return values[value.node][value.result]; };
  for (const graph::Node& node : graph.nodes()) {
    require_supported(graph, node);
    if (node.op == Op::parameter || node.op == Op::constant) {
      const auto index = static_cast<std::size_t>(std::get<graph::Index>(node.attributes).index);
      values.push_back({node.op == Op::parameter ? arguments.at(index) : w.constant(graph.constants()[index])});
      continue;
    }
    HloCall call{graph, node, {}, {}, dims};
    for (const graph::Value operand : node.operands) call.operands.push_back(value_of(operand));
    for (const Shape& shape : node.results) call.shapes.push_back(dims(shape));
    values.push_back(write_node(w, call));
  }
  HloValues results;
  for (const graph::Output& output : graph.outputs()) results.push_back(value_of(output.value));
  return results;
}

StableHloModule write_stablehlo(const graph::Graph& graph, const graph::DimValues& dims,
                                const StableHloOptions& options) {
  HloWriter w(options);
  HloValues parameters;
  for (const graph::Parameter& parameter : graph.parameters())
    parameters.push_back({"%parameter" + std::to_string(parameters.size()), dims(parameter.shape)});
  HloValues outputs = write_nodes(w, graph, dims, parameters);
  outputs.insert(outputs.end(), w.checked_extents().begin(), w.checked_extents().end());
  w.finish(outputs);
  std::vector<Shape> results;
  for (const HloValue& output : outputs) results.push_back(output.shape);
  std::string text = "module @alate {\n  func.func public @main(";
  text += signature(parameters, graph, w.constant_arguments()) + ") -> " + tensor_types(results) + " {\n";
  return {text + w.text() + "  }\n}\n", w.large_constants(), w.checks()};
}

StableHloSupport supports_stablehlo(const graph::Graph& graph, const graph::Node& node) {
  const graph::OpInfo& info = graph::op_info(node.op);
  std::vector<Shape> shapes = node.results;
  for (const graph::Value operand : node.operands) shapes.push_back(graph.shape(operand));
  if (std::string reason = unspelled_dtype(shapes); !reason.empty()) return {{}, std::move(reason)};
  if (info.kind == graph::OpKind::leaf) return {"constant", {}};
  const HloSpelling* row = find_spelling(node.op);
  if (row == nullptr)
    return {{}, info.kind == graph::OpKind::fused ? "fused ops are decomposed first" : "it has no spelling"};
  if (row->refusal != nullptr) {
    if (std::string reason = row->refusal(graph, node); !reason.empty()) return {{}, std::move(reason)};
  }
  return {row->spelling, {}};
}

}  // namespace alate::exchange
