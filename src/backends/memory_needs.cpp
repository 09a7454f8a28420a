#include "backends/memory_needs.h"

#include <algorithm>

#include "alate/error.h"
#include "backends/backend.h"
#include "graph/decompose.h"
#include "graph/passes.h"

namespace alate::backends {
namespace {

std::size_t sum(std::size_t a, std::size_t b) {
  std::size_t total = 0;
  if (__builtin_add_overflow(a, b, &total))
    throw Error(ErrorCode::resource_exhausted,
                "the values of a run have more bytes than any memory: use smaller inputs");
  return total;
}

std::size_t bytes_of(const Shape& shape, const graph::DimValues& values) { return values(shape).byte_count(); }

// Ops whose result is their operand's bytes in another shape.
bool is_view(graph::Op op) {
  return op == graph::Op::reshape || op == graph::Op::identity || op == graph::Op::bitcast ||
         op == graph::Op::optimization_barrier;
}

// For each node, the index of the last node that reads its results; a view's readers count as readers of its operand.
std::vector<std::size_t> last_readers(const graph::Graph& graph) {
  const std::span<const graph::Node> nodes = graph.nodes();
  std::vector<std::size_t> last(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) last[i] = i;
  for (const graph::Output& output : graph.outputs()) last[output.value.node] = nodes.size();
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const std::size_t until = is_view(nodes[i].op) ? last[i] : i;
    for (const graph::Value operand : nodes[i].operands) last[operand.node] = std::max(last[operand.node], until);
  }
  return last;
}

bool holds_bytes(graph::Op op) { return op != graph::Op::parameter && op != graph::Op::constant && !is_view(op); }

// The peak of bytes live at one node. Outputs are counted separately, so values that live to the end are left out.
std::size_t peak_of(const graph::Graph& graph, const graph::DimValues& values) {
  const std::span<const graph::Node> nodes = graph.nodes();
  const std::vector<std::size_t> last = last_readers(graph);
  std::vector<std::size_t> freed(nodes.size() + 1, 0);
  std::size_t live = 0, peak = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::size_t region = 0;
    for (const graph::Region& each : nodes[i].regions) {
      const std::size_t carried = sum(input_bytes(*each, values), output_bytes(*each, values));
      region = std::max(region, sum(peak_of(*each, values), carried));
    }
    if (holds_bytes(nodes[i].op) && last[i] < nodes.size()) {
      for (const Shape& shape : nodes[i].results) {
        const std::size_t bytes = bytes_of(shape, values);
        live = sum(live, bytes);
        freed[last[i]] += bytes;
      }
    }
    peak = std::max(peak, sum(live, region));
    live -= freed[i];
  }
  return peak;
}

std::size_t constant_bytes(const graph::Graph& graph) {
  std::size_t bytes = 0;
  for (const graph::ConstantPtr& constant : graph.constants()) bytes = sum(bytes, constant->shape.byte_count());
  for (const graph::Node& node : graph.nodes()) {
    for (const graph::Region& region : node.regions) bytes = sum(bytes, constant_bytes(*region));
  }
  return bytes;
}

}  // namespace

graph::DimValues dim_values(const graph::Graph& graph, const DimSettings& settings) {
  graph::DimValues values(graph.dims());
  for (const DimSetting& each : settings) {
    if (const std::optional<Dim> dim = graph.dims().find(each.name)) values.set(dim->id(), each.value, each.name);
  }
  return values;
}

std::size_t input_bytes(const graph::Graph& graph, const graph::DimValues& values) {
  std::size_t bytes = 0;
  for (const graph::Parameter& parameter : graph.parameters()) bytes = sum(bytes, bytes_of(parameter.shape, values));
  return bytes;
}

std::size_t output_bytes(const graph::Graph& graph, const graph::DimValues& values) {
  std::size_t bytes = 0;
  for (const graph::Output& output : graph.outputs()) bytes = sum(bytes, bytes_of(graph.shape(output.value), values));
  return bytes;
}

MemoryNeeds needs_by_lifetimes(const graph::Graph& graph, const graph::DimValues& values) {
  return {.owned_weights = constant_bytes(graph),
          .activations = peak_of(graph, values),
          .inputs = input_bytes(graph, values),
          .outputs = output_bytes(graph, values)};
}

std::vector<MemoryNeeds> Backend::memory_needs(const graph::Graph& graph, std::span<const DimSettings> runs) const {
  const graph::IsNative is_native = [this](const graph::Graph& g, const graph::Node& node) {
    return supports(g, node, {}).native;
  };
  graph::PassPipeline pipeline = graph::standard_passes({.is_native = is_native});
  pipeline.push_back({"decompose", [&](const graph::Graph& g) { return graph::decompose(g, is_native); }});
  pipeline.push_back({"eliminate_common_subexpressions", graph::eliminate_common_subexpressions});
  pipeline.push_back({"fold_constants", graph::fold_constants});
  pipeline.push_back({"eliminate_dead_nodes", graph::eliminate_dead_nodes});
  const graph::Graph optimized = graph::run_passes(graph, pipeline, nullptr);
  std::vector<MemoryNeeds> needs;
  for (const DimSettings& run : runs) needs.push_back(needs_by_lifetimes(optimized, dim_values(optimized, run)));
  return needs;
}

}  // namespace alate::backends
