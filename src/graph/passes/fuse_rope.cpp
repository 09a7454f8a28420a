#include <algorithm>
#include <array>
#include <cstring>

#include "graph/interpreter.h"
#include "graph/operands.h"
#include "graph/passes.h"
#include "graph/passes/matching.h"
#include "graph/passes/permutations.h"

namespace alate::graph {
namespace {

// A table broadcast over x: its axes as axes of x.
struct Table {
  Value source;
  Numbers mapping;
  bool operator==(const Table&) const = default;
};
struct Rotation {
  Value x;  // [..., width], whose first two halves are rotated
  Table cosines, sines;
  std::int64_t half;
  bool interleaved = false;
  bool doubled = false;  // tables hold each angle twice, in two equal halves
};

class RopeFusion {
 public:
  RopeFusion(const Graph& graph, const IsNative& is_native) : graph_(graph), is_native_(is_native) {}

  Replacement match(NodeId id) const {
    const Node& node = graph_.node(id);
    if (!contains(kComponents, node.results[0].dtype)) return {};
    std::optional<Rotation> found;
    if (node.op == Op::add) found = rotated_halves(node);
    if (node.op == Op::concatenate) found = halves(node);
    if (node.op == Op::reshape) found = interleaved(node);
    if (!found || graph_.shape(found->x) != node.results[0]) return {};
    return [=, this, rotation = *found](Rewriter& rewriter, Builder& b) {
      const Value turned = replacement(rewriter, b, rotation);
      return is_taken(b, turned) ? turned : copied(rewriter, id);
    };
  }

 private:
  static Value copied(Rewriter& rewriter, NodeId id) {
    rewriter.copy(id);
    return rewriter.mapped(Value{id, 0});
  }
  // Whether the value is a rope, or a reshape or transpose of one.
  bool is_taken(const Builder& b, Value value) const {
    const Node* node = &node_of(b.so_far(), value);
    if (node->op != Op::rope) node = &node_of(b.so_far(), node->operands[0]);
    return !is_native_ || is_native_(b.so_far(), *node);
  }

  // x, if the value is its slice from start to limit of the last axis.
  std::optional<Value> part(Value value, std::int64_t start, std::int64_t limit, std::int64_t stride) const {
    const Node* node = node_if(graph_, value, Op::slice);
    if (node == nullptr) return std::nullopt;
    const Slice& slice = std::get<Slice>(node->attributes);
    const Dims& dims = graph_.shape(node->operands[0]).dims;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const bool is_last = i + 1 == dims.size();
      const std::int64_t step = slice.strides.empty() ? 1 : slice.strides[i];
      if (slice.starts[i] != Dim(is_last ? start : 0) || (!is_last && slice.limits[i] != dims[i]) ||
          step != (is_last ? stride : 1))
        return std::nullopt;
    }
    const Dim end = slice.limits.back();  // a strided slice may have any limit after its last element
    if (!end.is_number() || end.number() > limit || end.number() <= limit - stride) return std::nullopt;
    return node->operands[0];
  }

  std::optional<Table> table_of(Value value) const {
    const Node* node = node_if(graph_, value, Op::broadcast_in_dim);
    if (node != nullptr) return Table{node->operands[0], std::get<BroadcastInDim>(node->attributes).mapping};
    Numbers mapping;
    for (std::size_t i = 0; i < graph_.shape(value).rank(); ++i) mapping.push_back(static_cast<std::int64_t>(i));
    return Table{value, std::move(mapping)};
  }

  // The four operands, in order, of a sum or difference of two products.
  using Terms = std::array<Value, 4>;
  template <typename Match>
  std::optional<Rotation> over_products(const Node& node, const Match& match) const {
    for (const bool swapped : {false, true}) {
      if (swapped && node.op != Op::add) break;
      const Node* first = node_if(graph_, node.operands[swapped ? 1 : 0], Op::mul);
      const Node* second = node_if(graph_, node.operands[swapped ? 0 : 1], Op::mul);
      if (first == nullptr || second == nullptr) return std::nullopt;
      for (const std::size_t i : {0u, 1u}) {
        for (const std::size_t k : {0u, 1u}) {
          if (auto found = match(
                  Terms{first->operands[i], first->operands[1 - i], second->operands[k], second->operands[1 - k]}))
            return found;
        }
      }
    }
    return std::nullopt;
  }

  // x · cos + concatenate(-right, left) · sin.
  std::optional<Rotation> rotated_halves(const Node& node) const {
    return over_products(node, [&](const Terms& terms) -> std::optional<Rotation> {
      const auto [x, cosines, rotated, sines] = terms;
      const Dim width = node.results[0].rank() == 0 ? Dim(0) : node.results[0].dims.back();
      const Node* pair = node_if(graph_, rotated, Op::concatenate);
      if (pair == nullptr || pair->operands.size() != 2 || !is_over_last(*pair) || !width.is_number() ||
          width.number() % 2 != 0 || width == Dim(0))
        return std::nullopt;
      const std::int64_t half = width.number() / 2;
      const Node* negated = node_if(graph_, pair->operands[0], Op::neg);
      if (negated == nullptr || part(negated->operands[0], half, 2 * half, 1) != x ||
          part(pair->operands[1], 0, half, 1) != x)
        return std::nullopt;
      const std::optional<Table> cosine = table_of(cosines), sine = table_of(sines);
      if (!has_equal_halves(cosine->source, 0) || !has_equal_halves(sine->source, 0)) return std::nullopt;
      return Rotation{.x = x, .cosines = *cosine, .sines = *sine, .half = half, .doubled = true};
    });
  }

  // left · cos - right · sin and right · cos + left · sin.
  std::optional<Rotation> turned_pair(Value lower, Value upper, std::int64_t half, bool interleaved) const {
    const Node *difference = node_if(graph_, lower, Op::sub), *sum = node_if(graph_, upper, Op::add);
    if (difference == nullptr || sum == nullptr) return std::nullopt;
    const std::int64_t limit = 2 * half, step = interleaved ? 2 : 1, middle = interleaved ? 1 : half;
    return over_products(*difference, [&](const Terms& low) {
      return over_products(*sum, [&](const Terms& high) -> std::optional<Rotation> {
        const auto [left, cosines, right, sines] = low;
        if (high != Terms{right, cosines, left, sines}) return std::nullopt;
        const std::optional<Value> x = part(left, 0, interleaved ? limit : half, step);
        if (!x || part(right, middle, limit, step) != x) return std::nullopt;
        return Rotation{.x = *x,
                        .cosines = *table_of(cosines),
                        .sines = *table_of(sines),
                        .half = half,
                        .interleaved = interleaved};
      });
    });
  }

  std::optional<Rotation> halves(const Node& node) const {
    const std::size_t count = node.operands.size();
    if (!is_over_last(node) || (count != 2 && count != 3)) return std::nullopt;
    const Dim half = graph_.shape(node.operands[0]).dims.back();
    auto found = turned_pair(node.operands[0], node.operands[1], half.number(), false);
    if (found && count == 3) {
      const std::int64_t width = node.results[0].dims.back().number();
      if (part(node.operands[2], 2 * half.number(), width, 1) != found->x) return std::nullopt;
    }
    return found;
  }

  // Two values [..., half, 1] interleaved into one axis.
  std::optional<Rotation> interleaved(const Node& node) const {
    const Node* pairs = node_if(graph_, node.operands[0], Op::concatenate);
    if (pairs == nullptr || pairs->operands.size() != 2 || !is_over_last(*pairs) || pairs->results[0].rank() < 2)
      return std::nullopt;
    const Dims& dims = pairs->results[0].dims;
    const Dim half = dims[dims.size() - 2];
    Dims merged(dims.begin(), dims.end() - 1);
    if (!half.is_number() || half.number() > INT32_MAX) return std::nullopt;
    Dims column = dims;
    column.back() = 1;
    std::vector<Value> sides;
    for (const Value operand : pairs->operands) {
      const Node& single = node_of(graph_, operand);
      if ((single.op != Op::reshape && single.op != Op::broadcast_in_dim) || single.results[0].dims != column ||
          graph_.shape(single.operands[0]).dims != merged)
        return std::nullopt;
      if (single.op == Op::broadcast_in_dim && !is_identity(std::get<BroadcastInDim>(single.attributes).mapping))
        return std::nullopt;
      sides.push_back(single.operands[0]);
    }
    merged.back() = 2 * half.number();
    if (node.results[0].dims != merged) return std::nullopt;
    return turned_pair(sides[0], sides[1], half.number(), true);
  }

  static bool is_over_last(const Node& node) {
    return std::get<Axis>(node.attributes).axis + 1 == static_cast<std::int64_t>(node.results[0].rank());
  }

  // Whether the second half of the last axis repeats the first.
  bool has_equal_halves(Value value, int depth) const {
    const Node& node = node_of(graph_, value);
    const Shape& shape = graph_.shape(value);
    if (shape.rank() == 0 || depth > 16) return false;
    const auto deeper = [&](Value operand) { return has_equal_halves(operand, depth + 1); };
    const auto keeps_last = [&] {
      const Dims& from = graph_.shape(node.operands[0]).dims;
      return !from.empty() && from.back() == shape.dims.back();
    };
    const auto last = static_cast<std::int64_t>(shape.rank()) - 1;
    if (op_info(node.op).has(kElementwise)) {
      return std::all_of(node.operands.begin(), node.operands.end(),
                         [&](Value operand) { return uniform_number(graph_, operand) || deeper(operand); });
    }
    switch (node.op) {
      case Op::concatenate:
        return is_over_last(node) && node.operands.size() == 2 && node.operands[0] == node.operands[1];
      case Op::reshape: return keeps_last() && deeper(node.operands[0]);
      case Op::slice: {
        const Slice& slice = std::get<Slice>(node.attributes);
        return keeps_last() && slice.starts.back() == Dim(0) && deeper(node.operands[0]);
      }
      case Op::transpose:
        return std::get<Permutation>(node.attributes).permutation.back() == last && deeper(node.operands[0]);
      case Op::broadcast_in_dim: {
        const Numbers& mapping = std::get<BroadcastInDim>(node.attributes).mapping;
        return !mapping.empty() && mapping.back() == last && keeps_last() && deeper(node.operands[0]);
      }
      case Op::gather: {
        const Gather& gather = std::get<Gather>(node.attributes);
        const auto table_last = static_cast<std::int64_t>(graph_.shape(node.operands[0]).rank()) - 1;
        const bool takes_rows =
            !gather.offset_dims.empty() && gather.offset_dims.back() == last && keeps_last() &&
            gather.slice_sizes.back() == shape.dims.back() &&
            std::count(gather.collapsed_slice_dims.begin(), gather.collapsed_slice_dims.end(), table_last) == 0;
        return takes_rows && deeper(node.operands[0]);
      }
      case Op::constant: return is_doubled(node);
      default: return false;
    }
  }

  bool is_doubled(const Node& node) const {
    const Tensor tensor =
        materialize(*graph_.constants()[static_cast<std::size_t>(std::get<Index>(node.attributes).index)]);
    const Shape& shape = node.results[0];
    const auto width = static_cast<std::size_t>(shape.dims.back().number());
    if (width == 0 || width % 2 != 0 || bits_of(shape.dtype) % 8 != 0) return false;
    const std::size_t row = width * bits_of(shape.dtype) / 8;
    const std::span<const std::byte> bytes = tensor.bytes();
    for (std::size_t at = 0; at < bytes.size(); at += row) {
      if (std::memcmp(&bytes[at], &bytes[at + row / 2], row / 2) != 0) return false;
    }
    return true;
  }

  // The axis that tables do not vary along: the last one before the width; none if it must be added.
  std::optional<std::size_t> heads_axis(const Rotation& rotation) const {
    const std::size_t rank = graph_.shape(rotation.x).rank();
    std::vector<bool> varies(rank);
    for (const Table* table : {&rotation.cosines, &rotation.sines}) {
      for (std::size_t i = 0; i < table->mapping.size(); ++i) {
        if (graph_.shape(table->source).dims[i] != Dim(1)) varies[static_cast<std::size_t>(table->mapping[i])] = true;
      }
    }
    for (std::size_t axis = rank - 1; axis-- > 0;) {
      if (!varies[axis]) return axis;
    }
    return std::nullopt;
  }

  // [tokens..., half]: without the heads axis, and broadcast along the others.
  Value rows_of(Rewriter& rewriter, Builder& b, const Table& table, const Rotation& rotation,
                std::optional<std::size_t> heads) const {
    Dims dims = graph_.shape(rotation.x).dims;
    dims.back() = rotation.half;
    if (heads) dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(*heads));
    Value source = rewriter.mapped(table.source);
    if (rotation.doubled) {
      Slice slice{.starts = Dims(b.shape(source).rank(), 0), .limits = b.shape(source).dims, .strides = {}};
      slice.limits.back() = rotation.half;
      source = b.slice({source}, std::move(slice));
    }
    Numbers mapping;
    Dims kept;
    for (std::size_t i = 0; i < table.mapping.size(); ++i) {
      const auto place = static_cast<std::size_t>(table.mapping[i]);
      if (heads && place == *heads) continue;
      mapping.push_back(table.mapping[i] - (heads && place > *heads ? 1 : 0));
      kept.push_back(b.shape(source).dims[i]);
    }
    if (kept != b.shape(source).dims) source = b.reshape({source}, {.dims = kept});
    if (kept == dims && is_identity(mapping)) return source;
    return b.broadcast_in_dim({source}, {.dims = dims, .mapping = mapping});
  }

  Value replacement(Rewriter& rewriter, Builder& b, const Rotation& rotation) const {
    const std::optional<std::size_t> heads = heads_axis(rotation);
    const Value cosines = rows_of(rewriter, b, rotation.cosines, rotation, heads);
    const Value sines = rows_of(rewriter, b, rotation.sines, rotation, heads);
    const auto rotated = [&](Value heads_last) {
      const RopeOperands<> operands{.x = heads_last, .cosines = cosines, .sines = sines};
      return b.rope(operands.list(), operands.flagged({.interleaved = rotation.interleaved}));
    };
    const Value x = rewriter.mapped(rotation.x);
    const Dims dims = b.shape(x).dims;
    if (!heads) {
      Dims with_head = dims;
      with_head.insert(with_head.end() - 1, 1);
      const Value one_head = b.reshape({x}, {.dims = with_head});
      return b.reshape({rotated(one_head)}, {.dims = dims});
    }
    Numbers order;
    for (std::size_t i = 0; i + 1 < dims.size(); ++i) {
      if (i != *heads) order.push_back(static_cast<std::int64_t>(i));
    }
    order.push_back(static_cast<std::int64_t>(*heads));
    order.push_back(static_cast<std::int64_t>(dims.size()) - 1);
    const Value turned = rotated(transpose_by(b, x, order));
    return transpose_by(b, turned, inverse(order));
  }

  const Graph& graph_;
  const IsNative& is_native_;
};

}  // namespace

Graph fuse_rope(const Graph& graph, const IsNative& is_native) {
  const RopeFusion fusion(graph, is_native);
  return replace_matches(graph, [&](NodeId id) { return fusion.match(id); });
}

}  // namespace alate::graph
