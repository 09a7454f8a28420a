#include <algorithm>

#include "graph/passes.h"
#include "graph/passes/matching.h"
#include "graph/passes/permutations.h"

namespace alate::graph {
namespace {

// Undoes the sunk transpose (or reshape) on another operand: finds the value that becomes the operand when moved.
class Mover {
 public:
  Mover(Builder& b, Op op, const Attributes& attributes, const Dims& from) : b_(b), from_(from), op_(op) {
    if (op == Op::transpose) permutation_ = std::get<Permutation>(attributes).permutation;
  }

  std::optional<Value> moved_back(Value operand) {
    const Node& node = node_of(b_.so_far(), operand);
    const bool is_same_move =
        node.op == op_ && b_.shape(node.operands[0]).dims == from_ &&
        (op_ == Op::reshape || std::get<Permutation>(node.attributes).permutation == permutation_);
    if (is_same_move) return node.operands[0];
    if (node.op == Op::broadcast_in_dim) {
      const Value x = node.operands[0];
      if (b_.shape(x).rank() == 0) return b_.broadcast_in_dim({x}, {.dims = from_, .mapping = {}});
      if (op_ == Op::reshape) return std::nullopt;
      const Numbers mapping = composed(permutation_, std::get<BroadcastInDim>(node.attributes).mapping);
      return b_.broadcast_in_dim({x}, {.dims = from_, .mapping = mapping});
    }
    if (node.op != Op::constant) return std::nullopt;
    if (op_ == Op::reshape) return b_.reshape({operand}, {.dims = from_});
    return b_.transpose({operand}, {.permutation = inverse(permutation_)});  // done once, by constant folding
  }

 private:
  Builder& b_;
  const Dims from_;
  Op op_;
  Numbers permutation_;
};

class Sinking {
 public:
  explicit Sinking(const Graph& graph) : graph_(graph), uses_(use_counts(graph)), rewriter_(graph) {}

  Graph run() {
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
      const Node& node = graph_.node(id);
      if (op_info(node.op).kind == OpKind::leaf) continue;
      const std::vector<Value> operands = rewriter_.mapped(node.operands);
      if (const std::optional<Value> found = sunk(rewriter_.builder_at(id), node, operands)) {
        rewriter_.replace(id, {*found});
      } else {
        rewriter_.copy(id);
      }
    }
    return rewriter_.finish();
  }

 private:
  std::optional<Value> sunk(Builder& b, const Node& node, const std::vector<Value>& operands) const {
    if (node.op == Op::dot_general) return product(b, node, operands);
    if (!op_info(node.op).has(kElementwise)) return std::nullopt;
    for (std::size_t place = 0; place < operands.size(); ++place) {
      const Op op = node_of(b.so_far(), operands[place]).op;
      const bool is_alone = uses_[node.operands[place].node] == 1;
      if ((op != Op::transpose && op != Op::reshape) || !is_alone) continue;
      if (b.shape(operands[place]).dims != node.results[0].dims) continue;  // a scalar beside the others
      if (const auto found = over_moved(b, node, operands, node_of(b.so_far(), operands[place]))) return found;
    }
    return std::nullopt;
  }

  // op(move(x), move(y)) is move(op(x, y)) for element-wise ops.
  static std::optional<Value> over_moved(Builder& b, const Node& node, const std::vector<Value>& operands,
                                         const Node& moved) {
    const Op move = moved.op;
    const Attributes attributes = moved.attributes;
    Mover mover(b, move, attributes, b.shape(moved.operands[0]).dims);
    std::vector<Value> inputs;
    for (const Value operand : operands) {
      const bool stays = b.shape(operand).rank() == 0 && node.results[0].rank() != 0;  // of select and clamp
      const std::optional<Value> back = stays ? std::optional(operand) : mover.moved_back(operand);
      if (!back) return std::nullopt;
      inputs.push_back(*back);
    }
    const Value result = b.emit(node.op, std::move(inputs), node.attributes).front();
    return b.emit(move, {result}, attributes).front();
  }

  // dot_general names its axes, so it can absorb a transpose; free axes must keep their order, as it determines the
  // result's axes.
  static std::optional<Value> product(Builder& b, const Node& node, std::vector<Value> operands) {
    DotGeneral dot = std::get<DotGeneral>(node.attributes);
    bool changed = false;
    const auto look_through = [&](Value& operand, Numbers& batch, Numbers& contracting) {
      const Node* moved = node_if(b.so_far(), operand, Op::transpose);
      if (moved == nullptr) return;
      const Numbers& permutation = std::get<Permutation>(moved->attributes).permutation;
      Numbers free;
      for (std::size_t i = 0; i < permutation.size(); ++i) {
        const auto axis = static_cast<std::int64_t>(i);
        const bool is_used =
            std::count(batch.begin(), batch.end(), axis) + std::count(contracting.begin(), contracting.end(), axis) > 0;
        if (!is_used) free.push_back(permutation[i]);
      }
      if (!std::is_sorted(free.begin(), free.end())) return;
      batch = composed(permutation, batch);
      contracting = composed(permutation, contracting);
      operand = moved->operands[0];
      changed = true;
    };
    look_through(operands[0], dot.lhs_batch, dot.lhs_contracting);
    look_through(operands[1], dot.rhs_batch, dot.rhs_contracting);
    return changed ? std::optional(b.dot_general(std::move(operands), std::move(dot))) : std::nullopt;
  }

  const Graph& graph_;
  std::vector<std::uint32_t> uses_;
  Rewriter rewriter_;
};

}  // namespace

Graph sink_transposes(const Graph& graph) { return Sinking(graph).run(); }

}  // namespace alate::graph
