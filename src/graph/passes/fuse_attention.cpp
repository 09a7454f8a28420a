#include <array>

#include "graph/operands.h"
#include "graph/passes.h"
#include "graph/passes/matching.h"
#include "graph/passes/permutations.h"

namespace alate::graph {
namespace {

// Mask values at or below this swamp any score, and its exponential is 0.
constexpr double kMaskThreshold = -1e30;

struct Mask {
  Value value;                        // of the scores' dims
  std::optional<double> hidden = {};  // replacement of masked scores, for a bool mask
  bool shows_true = true;
};
struct Scores {
  const Node* product = nullptr;
  double scale = 1, soft_cap = 0;
  std::optional<Mask> mask = {};
};
// An operand of attention: [batch, length, heads, width] after this permutation.
struct Side {
  Value value;
  Numbers permutation;  // of [batch, length, width] where there are no heads
};

class AttentionFusion {
 public:
  explicit AttentionFusion(const Graph& graph, const IsNative& is_native) : graph_(graph), is_native_(is_native) {}

  Replacement match(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.op != Op::dot_general || !contains(kComponents, node.results[0].dtype)) return {};
    const DotGeneral& dot = std::get<DotGeneral>(node.attributes);
    const Node* softmax = node_if(graph_, unguarded(node.operands[0]), Op::softmax);
    if (softmax == nullptr) return {};
    const Dims dims = softmax->results[0].dims;
    const auto last = static_cast<std::int64_t>(dims.size()) - 1;
    const bool has_heads = last == 3;
    if ((!has_heads && last != 2) || std::get<Axis>(softmax->attributes).axis != last) return {};
    if (dot.lhs_batch != (has_heads ? Numbers{0, 1} : Numbers{0}) || dot.lhs_contracting != Numbers{last}) return {};
    if (has_heads && (!dims[1].is_number() || dims[1] == Dim(0))) return {};
    const std::optional<Scores> scores = scores_of(softmax->operands[0]);
    if (!scores) return {};
    const DotGeneral& product = std::get<DotGeneral>(scores->product->attributes);
    if (product.lhs_batch.size() != dot.lhs_batch.size() || product.lhs_contracting.size() != 1) return {};
    const auto query = side(scores->product->operands[0], product.lhs_batch, product.lhs_contracting[0], true);
    const auto key = side(scores->product->operands[1], product.rhs_batch, product.rhs_contracting[0], true);
    const auto value = side(node.operands[1], dot.rhs_batch, dot.rhs_contracting[0], false);
    if (!query || !key || !value) return {};
    return [=, this, scores = *scores](Rewriter& rewriter, Builder& b) {
      return replacement(rewriter, b, id, {*query, *key, *value}, scores, dims);
    };
  }

 private:
  // Strips a select that replaces NaN weights (of fully masked rows) by zeros, which attention does itself.
  Value unguarded(Value weights) const {
    const Node* select = node_if(graph_, weights, Op::select);
    if (select == nullptr || uniform_number(graph_, select->operands[1]) != 0) return weights;
    const Node& condition = node_of(graph_, select->operands[0]);
    const Value plain = select->operands[2];
    const bool asks_for_nan =
        (condition.op == Op::is_nan || (condition.op == Op::not_equal && condition.operands[1] == plain)) &&
        condition.operands[0] == plain;
    return asks_for_nan ? plain : weights;
  }

  std::optional<Side> side(Value value, const Numbers& batch, std::int64_t contracting, bool contracts_width) const {
    const std::size_t rank = graph_.shape(value).rank();
    if (rank != batch.size() + 2) return std::nullopt;
    std::int64_t free = static_cast<std::int64_t>(rank * (rank - 1) / 2) - contracting;  // the remaining axis
    for (const std::int64_t axis : batch) free -= axis;
    Numbers permutation = {batch[0], contracts_width ? free : contracting};
    if (batch.size() == 2) permutation.push_back(batch[1]);
    permutation.push_back(contracts_width ? contracting : free);
    return Side{value, std::move(permutation)};
  }

  std::optional<Scores> scores_of(Value value) const {
    if (auto plain = unmasked(value)) return plain;
    const Node& node = node_of(graph_, value);
    if (node.op == Op::add) {
      return in_any_order(node, [&](Value scores, Value bias) {
        std::optional<Scores> found = unmasked(scores);
        if (found) found->mask = Mask{bias};
        return found;
      });
    }
    if (node.op != Op::select || graph_.shape(node.operands[0]).rank() == 0) return std::nullopt;
    for (const std::size_t hidden : {1u, 2u}) {
      const std::optional<double> number = uniform_number(graph_, node.operands[hidden]);
      if (!number || !(*number <= kMaskThreshold)) continue;
      std::optional<Scores> found = unmasked(node.operands[3 - hidden]);
      if (found) found->mask = Mask{node.operands[0], number, hidden == 2};
      return found;
    }
    return std::nullopt;
  }

  // scale · query · key, or cap · tanh(scale / cap · query · key).
  std::optional<Scores> unmasked(Value value) const {
    const Product outer = product_of(graph_, value);
    if (outer.factors.size() != 1) return std::nullopt;
    const Node& factor = node_of(graph_, outer.factors[0]);
    if (factor.op == Op::dot_general) return Scores{.product = &factor, .scale = outer.coefficient};
    if (factor.op != Op::tanh || !(outer.coefficient > 0)) return std::nullopt;
    const Product inner = product_of(graph_, factor.operands[0]);
    const Node* product = inner.factors.size() == 1 ? node_if(graph_, inner.factors[0], Op::dot_general) : nullptr;
    if (product == nullptr) return std::nullopt;
    return Scores{.product = product, .scale = inner.coefficient * outer.coefficient, .soft_cap = outer.coefficient};
  }

  // The key/value heads, if the value repeats each for a group of query heads.
  Side without_repeats(const Side& side) const {
    const Node* merged = node_if(graph_, side.value, Op::reshape);
    const Node* repeated = merged == nullptr ? nullptr : node_if(graph_, merged->operands[0], Op::broadcast_in_dim);
    if (repeated == nullptr || side.permutation.size() != 4) return side;
    const Value few = repeated->operands[0];
    const auto heads = static_cast<std::size_t>(side.permutation[2]);
    const Dims &split = repeated->results[0].dims, &whole = merged->results[0].dims;
    if (split.size() != 5 || graph_.shape(few).rank() != 4) return side;
    Dims without_groups = split;
    without_groups.erase(without_groups.begin() + static_cast<std::ptrdiff_t>(heads) + 1);
    if (graph_.shape(few).dims != without_groups) return side;
    Numbers mapping;
    for (std::size_t i = 0; i < 4; ++i) mapping.push_back(static_cast<std::int64_t>(i + (i > heads ? 1 : 0)));
    without_groups[heads] = whole[heads];
    const bool is_repeat = without_groups == whole && std::get<BroadcastInDim>(repeated->attributes).mapping == mapping;
    return is_repeat ? Side{few, side.permutation} : side;
  }

  // The mask with extents of 1 where it only broadcasts along batch or heads.
  Value small_mask(Rewriter& rewriter, Builder& b, Value mask, Dims dims) const {
    const Node* node = node_if(graph_, mask, Op::broadcast_in_dim);
    if (dims.size() == 3) return b.reshape({rewriter.mapped(mask)}, {.dims = {dims[0], 1, dims[1], dims[2]}});
    if (node == nullptr) return rewriter.mapped(mask);
    const Numbers& mapping = std::get<BroadcastInDim>(node->attributes).mapping;
    const Dims& from = graph_.shape(node->operands[0]).dims;
    std::vector<bool> varies(4);
    for (std::size_t i = 0; i < from.size(); ++i) varies[static_cast<std::size_t>(mapping[i])] = from[i] != Dim(1);
    for (const std::size_t axis : {0u, 1u}) {
      if (!varies[axis]) dims[axis] = 1;
    }
    const Value source = rewriter.mapped(node->operands[0]);
    if (from == dims && is_identity(mapping)) return source;
    return b.broadcast_in_dim({source}, {.dims = dims, .mapping = mapping});
  }

  Value bias(Rewriter& rewriter, Builder& b, const Mask& mask, const Dims& dims, DType dtype) const {
    const Value small = small_mask(rewriter, b, mask.value, dims);
    if (!mask.hidden) return small;
    const Dims small_dims = b.shape(small).dims;
    const Value shown = broadcast_to(b, b.scalar(dtype, 0), small_dims);
    const Value hidden = broadcast_to(b, b.scalar(dtype, *mask.hidden), small_dims);
    return mask.shows_true ? b.select({small, shown, hidden}) : b.select({small, hidden, shown});
  }

  Value replacement(Rewriter& rewriter, Builder& b, NodeId id, std::array<Side, 3> sides, const Scores& scores,
                    const Dims& dims) const {
    const Side few_keys = without_repeats(sides[1]), few_values = without_repeats(sides[2]);
    const auto heads_of = [&](const Side& side) {
      return graph_.shape(side.value).dims[static_cast<std::size_t>(side.permutation[2])];
    };
    if (dims.size() == 4 && heads_of(few_keys) == heads_of(few_values)) sides = {sides[0], few_keys, few_values};
    const auto with_heads = [&](const Side& side) {
      const Value value = transpose_by(b, rewriter.mapped(side.value), side.permutation);
      const Dims from = b.shape(value).dims;
      return from.size() == 3 ? b.reshape({value}, {.dims = {from[0], from[1], 1, from[2]}}) : value;
    };
    AttentionOperands<> operands{
        .query = with_heads(sides[0]), .key = with_heads(sides[1]), .value = with_heads(sides[2])};
    const DType dtype = graph_.node(id).results[0].dtype;
    if (scores.mask) operands.bias = bias(rewriter, b, *scores.mask, dims, dtype);
    const Value mixed =
        b.attention(operands.list(), operands.flagged({.scale = scores.scale, .soft_cap = scores.soft_cap}));
    if (is_native_ && !is_native_(b.so_far(), node_of(b.so_far(), mixed))) {
      rewriter.copy(id);
      return rewriter.mapped(Value{id, 0});
    }
    if (dims.size() == 3) return b.reshape({mixed}, {.dims = graph_.node(id).results[0].dims});
    return b.transpose({mixed}, {.permutation = {0, 2, 1, 3}});
  }

  const Graph& graph_;
  const IsNative& is_native_;
};

}  // namespace

Graph fuse_attention(const Graph& graph, const IsNative& is_native) {
  const AttentionFusion fusion(graph, is_native);
  return replace_matches(graph, [&](NodeId id) { return fusion.match(id); });
}

}  // namespace alate::graph
