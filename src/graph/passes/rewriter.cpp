#include "graph/passes/rewriter.h"

#include "alate/error.h"

namespace alate::graph {

Rewriter::Rewriter(const Graph& old) : old_(old), builder_(old.name(), old.shared_dims()), values_(old.nodes().size()) {
  std::vector<Value> parameters;
  for (const Parameter& parameter : old.parameters())
    parameters.push_back(builder_.parameter(parameter.name, parameter.shape, parameter.donatable));
  for (NodeId id = 0; id < old.nodes().size(); ++id) {
    const Node& node = old.node(id);
    if (node.op == Op::parameter)
      values_[id] = {parameters.at(static_cast<std::size_t>(std::get<Index>(node.attributes).index))};
  }
}

Builder& Rewriter::builder_at(NodeId id) {
  builder_.set_source(old_.source(old_.node(id).source));
  return builder_;
}

Value Rewriter::mapped(Value old) {
  std::vector<Value>& values = values_.at(old.node);
  const Node& node = old_.node(old.node);
  if (values.empty() && node.op == Op::constant) {
    values = {builder_at(old.node).constant(
        old_.constants()[static_cast<std::size_t>(std::get<Index>(node.attributes).index)])};
  }
  if (old.result >= values.size())
    throw make_error(ErrorCode::internal, "a pass dropped a value of ", to_string(node.op), " that is still read");
  return values[old.result];
}

std::vector<Value> Rewriter::mapped(std::span<const Value> old) {
  std::vector<Value> values;
  values.reserve(old.size());
  for (const Value value : old) values.push_back(mapped(value));
  return values;
}

void Rewriter::copy(NodeId id, const std::vector<Region>& regions) {
  const Node& node = old_.node(id);
  if (op_info(node.op).kind == OpKind::leaf) return;
  std::vector<Value> operands = mapped(node.operands);
  values_[id] =
      builder_at(id).emit(node.op, std::move(operands), node.attributes, regions.empty() ? node.regions : regions);
}

void Rewriter::replace(NodeId id, std::vector<Value> values) { values_.at(id) = std::move(values); }

Graph Rewriter::finish() {
  for (const Output& output : old_.outputs())
    builder_.output(output.name, mapped(output.value), output.aliases_parameter);
  return builder_.finish();
}

}  // namespace alate::graph
