#include <algorithm>
#include <array>

#include "graph/decompose/widening.h"
#include "graph/operands.h"
#include "graph/passes.h"
#include "graph/passes/matching.h"
#include "graph/reference/values.h"
#include "tensor/packed.h"

namespace alate::graph {
namespace {

constexpr int kMaxDepth = 8;  // data-movement ops between a conversion and a fused op

// Fused ops that compute f16 and bf16 in f32, round once, and have all their floats in one dtype (except rope's
// tables).
constexpr std::array kOps = {Op::softmax,   Op::log_softmax,      Op::gelu,       Op::silu, Op::layer_norm,
                             Op::rms_norm,  Op::group_norm,       Op::normalize,  Op::rope, Op::dense,
                             Op::attention, Op::ragged_attention, Op::ragged_pool};

bool moves(Op op) { return op == Op::reshape || op == Op::transpose || op == Op::broadcast_in_dim; }

// The constant in the narrower dtype, if that represents it exactly.
ConstantPtr narrowed(const ConstantPtr& constant, DType dtype, int depth = 0) {
  if (depth > kMaxDepth) return nullptr;
  if (constant->op == Op::convert && constant->operands[0]->shape.dtype == dtype) return constant->operands[0];
  if (moves(constant->op)) {
    const ConstantPtr source = narrowed(constant->operands[0], dtype, depth + 1);
    if (source == nullptr) return nullptr;
    return make_constant(constant->op, constant->attributes, {dtype, constant->shape.dims}, {source});
  }
  if (!constant->is_leaf() || constant->shape.rank() != 0) return nullptr;
  const double number = load_floats(constant->tensor).front();
  const Tensor rounded = tensor::scalar_of(dtype, number);
  return load_floats(rounded).front() == number ? make_constant("literal", rounded) : nullptr;
}

class Narrowing {
 public:
  explicit Narrowing(const Graph& graph, const IsNative& is_native)
      : graph_(graph), is_native_(is_native), uses_(graph.nodes().size()) {
    for (const Node& node : graph.nodes()) {
      for (const Value operand : node.operands) ++uses_[operand.node];
    }
    for (const Output& output : graph.outputs()) ++uses_[output.value.node];
  }

  Replacement match(NodeId id) const {
    const Node& node = graph_.node(id);
    const DType dtype = node.results[0].dtype;
    if (node.op != Op::convert || !is_narrow(dtype)) return {};
    std::vector<NodeId> moved;  // between the fused op and the conversion, the last first
    Value wide = node.operands[0];
    while (moves(node_of(graph_, wide).op) && uses_[wide.node] == 1) {
      moved.push_back(wide.node);
      wide = node_of(graph_, wide).operands[0];
    }
    const Node& fused = node_of(graph_, wide);
    if (std::find(kOps.begin(), kOps.end(), fused.op) == kOps.end() || fused.results[0].dtype != DType::f32 ||
        uses_[wide.node] != 1)
      return {};
    if (fused.op == Op::dense && has_weight_of_other_half(fused, dtype)) return {};
    for (std::size_t i = 0; i < fused.operands.size(); ++i) {
      if (!stays(fused, i) && !is_widened(fused.operands[i], dtype, 0)) return {};
    }
    return [this, id, moved, wide, dtype](Rewriter& rewriter, Builder& b) {
      return replacement(rewriter, b, id, moved, node_of(graph_, wide), dtype);
    };
  }

 private:
  // dense takes an f16 or bf16 weight with f32 x, but does not mix f16 and bf16.
  bool has_weight_of_other_half(const Node& dense, DType dtype) const {
    const DType weight = graph_.shape(DenseOperands<>::of(dense).weight).dtype;
    return weight != DType::f32 && weight != dtype;
  }

  static bool is_rope_table(const Node& fused, std::size_t operand) {
    if (fused.op != Op::rope) return false;
    const auto at = places_of<RopeOperands>(std::get<Rope>(fused.attributes));
    return operand == at.cosines || operand == at.sines;
  }

  // Integers, and rope tables, which may be wider than x.
  bool stays(const Node& fused, std::size_t operand) const {
    return graph_.shape(fused.operands[operand]).dtype != DType::f32 || is_rope_table(fused, operand);
  }

  const ConstantPtr& constant_of(const Node& node) const {
    return graph_.constants()[static_cast<std::size_t>(std::get<Index>(node.attributes).index)];
  }

  // Whether a value is widened from the narrower dtype.
  bool is_widened(Value value, DType dtype, int depth) const {
    const Node& node = node_of(graph_, value);
    if (node.op == Op::convert) return graph_.shape(node.operands[0]).dtype == dtype;
    if (node.op == Op::constant) return narrowed(constant_of(node), dtype) != nullptr;
    return moves(node.op) && depth < kMaxDepth && is_widened(node.operands[0], dtype, depth + 1);
  }

  Value source(Rewriter& rewriter, Builder& b, Value value, DType dtype) const {
    const Node& node = node_of(graph_, value);
    if (node.op == Op::convert) return rewriter.mapped(node.operands[0]);
    if (node.op == Op::constant) return b.constant(narrowed(constant_of(node), dtype));
    return b.emit(node.op, {source(rewriter, b, node.operands[0], dtype)}, node.attributes).front();
  }

  Value replacement(Rewriter& rewriter, Builder& b, NodeId id, const std::vector<NodeId>& moved, const Node& fused,
                    DType dtype) const {
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < fused.operands.size(); ++i) {
      const Value operand = fused.operands[i];
      inputs.push_back(stays(fused, i) ? rewriter.mapped(operand) : source(rewriter, b, operand, dtype));
    }
    Value made = b.emit(fused.op, std::move(inputs), fused.attributes).front();
    if (is_native_ && !is_native_(b.so_far(), node_of(b.so_far(), made))) {
      rewriter.copy(id);
      return rewriter.mapped(Value{id, 0});
    }
    for (auto move = moved.rbegin(); move != moved.rend(); ++move) {
      const Node& node = graph_.node(*move);
      made = b.emit(node.op, {made}, node.attributes).front();
    }
    return made;
  }

  const Graph& graph_;
  const IsNative& is_native_;
  std::vector<std::size_t> uses_;
};

}  // namespace

Graph narrow_fusions(const Graph& graph, const IsNative& is_native) {
  const Narrowing narrowing(graph, is_native);
  return replace_matches(graph, [&](NodeId id) { return narrowing.match(id); });
}

}  // namespace alate::graph
