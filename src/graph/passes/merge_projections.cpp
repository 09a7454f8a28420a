#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "graph/operands.h"
#include "graph/passes.h"
#include "graph/passes/matching.h"

namespace alate::graph {
namespace {

struct Projection {
  NodeId node;
  std::int64_t width;
};

// The parts of a dense or quantized_dense that merging concatenates (weight operands and bias), and the shared ones.
struct WeightedProduct {
  std::vector<Value> shared;  // x, and smoothing
  std::vector<Value> weight;  // one row per output column
  std::vector<Value> bias;    // one or none
  Activation activation;
  bool has_residual;
};

// None for other ops, and for weights with a scale shared by several rows.
std::optional<WeightedProduct> parts_of(const Node& node) {
  const auto with = [](std::vector<Value> values, const std::optional<Value>& more) {
    if (more) values.push_back(*more);
    return values;
  };
  if (node.op == Op::dense) {
    const auto given = DenseOperands<>::of(node);
    return WeightedProduct{.shared = {given.x},
                           .weight = {given.weight},
                           .bias = with({}, given.bias),
                           .activation = std::get<Dense>(node.attributes).activation,
                           .has_residual = given.residual.has_value()};
  }
  if (node.op != Op::quantized_dense) return std::nullopt;
  const auto& dense = std::get<QuantizedDense>(node.attributes);
  if (!dense.blocks.empty() && dense.blocks[0] != 1) return std::nullopt;
  const auto given = QuantizedDenseOperands<>::of(node);
  return WeightedProduct{.shared = with({given.x}, given.smoothing),
                         .weight = with(with({given.stored}, given.scales), given.zero_points),
                         .bias = with({}, given.bias),
                         .activation = dense.activation,
                         .has_residual = given.residual.has_value()};
}

// Attributes apart from the bias flag: projections must agree on them to be merged.
Attributes without_bias(Attributes attributes) {
  if (auto* dense = std::get_if<Dense>(&attributes)) dense->has_bias = false;
  if (auto* dense = std::get_if<QuantizedDense>(&attributes)) dense->has_bias = false;
  return attributes;
}

struct Group {
  std::vector<Value> shared;
  std::vector<DType> weight;
  Attributes attributes;
  std::vector<Projection> projections;

  bool operator==(const Group& other) const {
    return shared == other.shared && weight == other.weight && attributes == other.attributes;
  }
};

std::vector<Group> find_projections(const Graph& graph) {
  const auto all_constant = [&](const std::vector<Value>& values) {
    return std::all_of(values.begin(), values.end(), [&](Value value) { return is_constant(graph, value); });
  };
  std::map<std::vector<Value>, std::vector<Group>> groups;  // by their shared parts
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    const std::optional<WeightedProduct> product = parts_of(node);
    if (!product || product->has_residual || !all_constant(product->weight) || !all_constant(product->bias)) continue;
    const Dim width = node.results[0].dims.back();
    if (!width.is_number()) continue;
    Group group{
        .shared = product->shared, .weight = {}, .attributes = without_bias(node.attributes), .projections = {}};
    for (const Value part : product->weight) group.weight.push_back(graph.shape(part).dtype);
    std::vector<Group>& alike = groups[product->shared];
    auto found = std::find(alike.begin(), alike.end(), group);
    if (found == alike.end()) found = alike.insert(alike.end(), std::move(group));
    found->projections.push_back({id, width.number()});
  }
  std::vector<Group> all;
  for (auto& [shared, alike] : groups) std::move(alike.begin(), alike.end(), std::back_inserter(all));
  return all;
}

// The operands with a row for each output column.
std::vector<Value*> weight_operands(DenseOperands<>& operands) { return {&operands.weight}; }
std::vector<Value*> weight_operands(QuantizedDenseOperands<>& operands) {
  std::vector<Value*> values = {&operands.stored};
  if (operands.scales) values.push_back(&*operands.scales);
  if (operands.zero_points) values.push_back(&*operands.zero_points);
  return values;
}

void map_shared(Rewriter& rewriter, DenseOperands<>& operands) { operands.x = rewriter.mapped(operands.x); }
void map_shared(Rewriter& rewriter, QuantizedDenseOperands<>& operands) {
  operands.x = rewriter.mapped(operands.x);
  if (operands.smoothing) operands.smoothing = rewriter.mapped(*operands.smoothing);
}

// One product of all weights.
template <typename Operands>
Value merged_product(Rewriter& rewriter, Builder& b, const Graph& graph, const Group& group) {
  const Node& first = graph.node(group.projections.front().node);
  std::vector<Operands> products;
  for (const Projection& part : group.projections) products.push_back(Operands::of(graph.node(part.node)));
  Operands whole = products.front();
  map_shared(rewriter, whole);
  const std::vector<Value*> weight = weight_operands(whole);
  for (std::size_t place = 0; place < weight.size(); ++place) {
    std::vector<Value> parts;
    for (Operands& product : products) parts.push_back(rewriter.mapped(*weight_operands(product)[place]));
    *weight[place] = b.concatenate(std::move(parts), {.axis = 0});
  }
  if (std::any_of(products.begin(), products.end(), [](const Operands& product) { return product.bias.has_value(); })) {
    std::vector<Value> parts;
    for (std::size_t i = 0; i < products.size(); ++i) {
      // -0 changes no number that it is added to.
      parts.push_back(products[i].bias ? rewriter.mapped(*products[i].bias)
                                       : constant_row(b, first.results[0].dtype, group.projections[i].width, -0.0));
    }
    whole.bias = b.concatenate(std::move(parts), {.axis = 0});
  }
  const auto attributes = whole.flagged(std::get<typename Operands::Attributes>(group.attributes));
  return b.emit(first.op, whole.list(), attributes).front();
}

// Replaces the projections by slices of one product.
void merge(Rewriter& rewriter, const Graph& graph, const Group& group) {
  Builder& b = rewriter.builder_at(group.projections.front().node);
  const bool is_plain = graph.node(group.projections.front().node).op == Op::dense;
  const Value product = is_plain ? merged_product<DenseOperands<>>(rewriter, b, graph, group)
                                 : merged_product<QuantizedDenseOperands<>>(rewriter, b, graph, group);
  const Dims dims = b.shape(product).dims;
  std::int64_t start = 0;
  for (const Projection& part : group.projections) {
    Slice slice{.starts = Dims(dims.size(), 0), .limits = dims, .strides = {}};
    slice.starts.back() = start;
    slice.limits.back() = start += part.width;
    rewriter.replace(part.node, {b.slice({product}, std::move(slice))});
  }
}

}  // namespace

Graph merge_projections(const Graph& graph) {
  std::map<NodeId, Group> at_first;
  std::vector<bool> merged(graph.nodes().size());
  for (Group& group : find_projections(graph)) {
    if (group.projections.size() < 2) continue;
    for (const Projection& part : group.projections) merged[part.node] = true;
    const NodeId first = group.projections.front().node;
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
