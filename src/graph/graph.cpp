#include "graph/graph.h"

#include "alate/error.h"
#include "graph/infer.h"

namespace alate::graph {
namespace {

void add_graph(FingerprintBuilder& builder, const Graph& graph) {
  const DimTable* const dims = &graph.dims();
  for (const Parameter& parameter : graph.parameters()) {
    builder.add(parameter.name).add(std::uint64_t{parameter.donatable});
    add_shape(builder, parameter.shape, dims);
  }
  for (const ConstantPtr& constant : graph.constants()) {
    builder.add(constant->identity);
    add_shape(builder, constant->shape, dims);
  }
  for (const Node& node : graph.nodes()) {
    builder.add(to_string(node.op));
    add_attributes(builder, node.attributes, dims);
    for (const Value operand : node.operands)
      builder.add(std::uint64_t{operand.node}).add(std::uint64_t{operand.result});
    for (const Shape& shape : node.results) add_shape(builder, shape, dims);
    for (const Region& region : node.regions) add_graph(builder, *region);
  }
  for (const Output& output : graph.outputs()) {
    builder.add(output.name).add(std::uint64_t{output.value.node}).add(std::uint64_t{output.value.result});
    builder.add(output.aliases_parameter ? std::uint64_t{*output.aliases_parameter} + 1 : 0);
  }
}

}  // namespace

Fingerprint Graph::fingerprint() const {
  FingerprintBuilder builder;
  for (const DimId id : dims_->names()) {
    const NamedDim& dim = (*dims_)[id];
    builder.add(dim.name)
        .add(static_cast<std::uint64_t>(dim.min))
        .add(static_cast<std::uint64_t>(dim.max.value_or(-1)))
        .add(std::uint64_t{dim.paddable});
  }
  add_graph(builder, *this);
  return builder.finish();
}

std::vector<std::uint32_t> use_counts(const Graph& graph) {
  std::vector<std::uint32_t> counts(graph.nodes().size());
  for (const Node& node : graph.nodes()) {
    for (const Value operand : node.operands) ++counts[operand.node];
  }
  for (const Output& output : graph.outputs()) ++counts[output.value.node];
  return counts;
}

}  // namespace alate::graph
