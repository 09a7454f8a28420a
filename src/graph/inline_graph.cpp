#include "graph/inline_graph.h"

#include "alate/error.h"

namespace alate::graph {

std::vector<Value> inline_graph(Builder& b, const Graph& graph, std::span<const Value> arguments) {
  if (arguments.size() != graph.parameters().size()) {
    throw make_error(ErrorCode::invalid_argument, "graph '", graph.name(), "' takes ", graph.parameters().size(),
                     " values, not ", arguments.size());
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Parameter& parameter = graph.parameters()[i];
    if (b.shape(arguments[i]) != parameter.shape) {
      throw make_error(ErrorCode::invalid_argument, "graph '", graph.name(), "': parameter '", parameter.name, "' is ",
                       graph.dims().to_string(parameter.shape), ", not ", b.dims()->to_string(b.shape(arguments[i])));
    }
  }
  std::vector<std::vector<Value>> values;
  for (const Node& node : graph.nodes()) {
    b.set_source(graph.source(node.source));
    if (node.op == Op::parameter) {
      values.push_back({arguments[static_cast<std::size_t>(std::get<Index>(node.attributes).index)]});
    } else if (node.op == Op::constant) {
      const auto index = static_cast<std::size_t>(std::get<Index>(node.attributes).index);
      values.push_back({b.constant(graph.constants()[index])});
    } else {
      std::vector<Value> operands;
      for (const Value operand : node.operands) operands.push_back(values[operand.node][operand.result]);
      values.push_back(b.emit(node.op, std::move(operands), node.attributes, node.regions));
    }
  }
  std::vector<Value> outputs;
  for (const Output& output : graph.outputs()) outputs.push_back(values[output.value.node][output.value.result]);
  return outputs;
}

}  // namespace alate::graph
