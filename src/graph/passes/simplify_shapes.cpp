#include <algorithm>
#include <numeric>

#include "graph/passes.h"
#include "graph/passes/matching.h"
#include "graph/passes/permutations.h"

namespace alate::graph {
namespace {

bool all_zero(const Numbers& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](std::int64_t number) { return number == 0; });
}

// The position of each axis of `narrow` in `wide`, if the other axes have extent 1.
std::optional<Numbers> places_among_ones(const Dims& narrow, const Dims& wide) {
  Numbers places;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (places.size() < narrow.size() && narrow[places.size()] == wide[i]) {
      places.push_back(static_cast<std::int64_t>(i));
    } else if (wide[i] != Dim(1)) {
      return std::nullopt;
    }
  }
  return places.size() == narrow.size() ? std::optional(places) : std::nullopt;
}

// Matches one node over its mapped operands. Elements only move, so every rule is bit-exact.
class Shapes {
 public:
  Shapes(Builder& b, const Node& node, const std::vector<Value>& operands) : b_(b), node_(node), operands_(operands) {}

  std::optional<Value> simplified() {
    if (operands_.empty()) return std::nullopt;
    switch (node_.op) {
      case Op::reshape: return reshaped(std::get<Reshape>(node_.attributes).dims);
      case Op::broadcast_in_dim: return repeated();
      case Op::transpose: return transposed(std::get<Permutation>(node_.attributes).permutation);
      case Op::slice: return sliced();
      case Op::pad: return padded();
      case Op::concatenate: return operands_.size() == 1 ? std::optional(operands_[0]) : std::nullopt;
      case Op::reverse: return reversed();
      case Op::convert: return converted();
      case Op::bitcast: return unless_changed(b_.shape(operands_[0]) == node_.results[0]);
      default: return std::nullopt;
    }
  }

 private:
  const Node& before() const { return node_of(b_.so_far(), operands_[0]); }
  std::optional<Value> unless_changed(bool is_same) const {
    return is_same ? std::optional(operands_[0]) : std::nullopt;
  }

  std::optional<Value> reshaped(const Dims& dims) {
    if (b_.shape(operands_[0]).dims == dims) return operands_[0];
    const Node& inner = before();
    if (inner.operands.size() != 1) return std::nullopt;
    const Value x = inner.operands[0];
    if (inner.op == Op::reshape) return b_.shape(x).dims == dims ? x : b_.reshape({x}, {.dims = dims});
    if (inner.op == Op::broadcast_in_dim && b_.shape(x).rank() == 0)
      return b_.broadcast_in_dim({x}, {.dims = dims, .mapping = {}});
    return std::nullopt;
  }

  std::optional<Value> repeated() {
    const auto& attributes = std::get<BroadcastInDim>(node_.attributes);
    if (b_.shape(operands_[0]).dims == attributes.dims && is_identity(attributes.mapping)) return operands_[0];
    const Node& inner = before();
    if (inner.op != Op::broadcast_in_dim && inner.op != Op::reshape) return std::nullopt;
    const Value x = inner.operands[0];
    const std::optional<Numbers> places = inner.op == Op::broadcast_in_dim
                                              ? std::optional(std::get<BroadcastInDim>(inner.attributes).mapping)
                                              : places_among_ones(b_.shape(x).dims, inner.results[0].dims);
    if (!places) return std::nullopt;
    const Numbers mapping = composed(attributes.mapping, *places);
    if (b_.shape(x).dims == attributes.dims && is_identity(mapping)) return x;
    return b_.broadcast_in_dim({x}, {.dims = attributes.dims, .mapping = mapping});
  }

  // Converting before a broadcast converts fewer elements, and lets patterns find rows.
  std::optional<Value> converted() {
    const Node& inner = before();
    if (inner.op != Op::broadcast_in_dim) return std::nullopt;
    const BroadcastInDim repeats = std::get<BroadcastInDim>(inner.attributes);
    return b_.broadcast_in_dim({b_.convert({inner.operands[0]}, std::get<Convert>(node_.attributes))}, repeats);
  }

  std::optional<Value> transposed(const Numbers& permutation) {
    if (is_identity(permutation)) return operands_[0];
    const Node& inner = before();
    if (inner.op == Op::transpose) {
      const Value x = inner.operands[0];
      return transpose_by(b_, x, composed(std::get<Permutation>(inner.attributes).permutation, permutation));
    }
    if (inner.op != Op::broadcast_in_dim) return std::nullopt;
    const Value x = inner.operands[0];
    const Numbers mapping = composed(inverse(permutation), std::get<BroadcastInDim>(inner.attributes).mapping);
    return b_.broadcast_in_dim({x}, {.dims = node_.results[0].dims, .mapping = mapping});
  }

  std::optional<Value> sliced() const {
    const auto& [starts, limits, strides] = std::get<Slice>(node_.attributes);
    const bool from_zero = std::all_of(starts.begin(), starts.end(), [](Dim start) { return start == Dim(0); });
    const bool by_one = std::all_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride == 1; });
    return unless_changed(from_zero && by_one && limits == b_.shape(operands_[0]).dims);
  }

  std::optional<Value> padded() const {
    const auto& [low, high, interior] = std::get<Pad>(node_.attributes);
    return unless_changed(all_zero(low) && all_zero(high) && all_zero(interior));
  }

  std::optional<Value> reversed() const {
    const Numbers& axes = std::get<Axes>(node_.attributes).axes;
    const Node& inner = before();
    if (inner.op == Op::reverse && std::get<Axes>(inner.attributes).axes == axes) return inner.operands[0];
    return unless_changed(std::all_of(axes.begin(), axes.end(), [&](std::int64_t axis) {
      return node_.results[0].dims[static_cast<std::size_t>(axis)] == Dim(1);
    }));
  }

  Builder& b_;
  const Node& node_;
  const std::vector<Value>& operands_;
};

}  // namespace

Graph simplify_shapes(const Graph& graph) {
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (!op_info(node.op).has(kData) && node.op != Op::convert) {
      rewriter.copy(id);
      continue;
    }
    const std::vector<Value> operands = rewriter.mapped(node.operands);
    if (const std::optional<Value> found = Shapes(rewriter.builder_at(id), node, operands).simplified()) {
      rewriter.replace(id, {*found});
    } else {
      rewriter.copy(id);
    }
  }
  return rewriter.finish();
}

}  // namespace alate::graph
