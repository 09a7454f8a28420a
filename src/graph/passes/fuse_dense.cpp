#include <optional>

#include "graph/operands.h"
#include "graph/passes.h"
#include "graph/passes/matching.h"

namespace alate::graph {
namespace {

// Matches patterns that end in one node of the old graph, over its mapped operands.
class DenseFusion {
 public:
  explicit DenseFusion(const Graph& graph) : graph_(graph), uses_(use_counts(graph)), rewriter_(graph) {}

  Graph run() {
    for (NodeId id = 0; id < graph_.nodes().size(); ++id) {
      const Node& node = graph_.node(id);
      if (op_info(node.op).kind == OpKind::leaf) continue;
      const std::vector<Value> operands = rewriter_.mapped(node.operands);
      if (const std::optional<Value> fused = fuse(id, node, operands)) {
        rewriter_.replace(id, {*fused});
      } else {
        rewriter_.copy(id);
      }
    }
    return rewriter_.finish();
  }

 private:
  std::optional<Value> fuse(NodeId id, const Node& node, const std::vector<Value>& operands) {
    Builder& b = rewriter_.builder_at(id);
    if (node.op == Op::dot_general) return product(b, node, operands);
    if (node.op == Op::add) return sum(b, node, operands);
    if (node.op == Op::mul) return quick_gelu(b, node, operands);
    if (const std::optional<Activation> activation = activation_of(b.so_far(), node, operands))
      return activated(b, node, operands, *activation);
    return std::nullopt;
  }

  static std::optional<Value> product(Builder& b, const Node& node, const std::vector<Value>& operands) {
    const auto& dot = std::get<DotGeneral>(node.attributes);
    const Shape x = b.shape(operands[0]), weight = b.shape(operands[1]);
    const bool rows_by_matrix = dot.lhs_batch.empty() && x.rank() >= 1 && weight.rank() == 2 &&
                                dot.lhs_contracting == Numbers{static_cast<std::int64_t>(x.rank()) - 1};
    if (!rows_by_matrix || b.so_far().node(operands[1].node).op != Op::constant || !contains(kFloats, x.dtype))
      return std::nullopt;
    const Value out_in =
        dot.rhs_contracting[0] == 1 ? operands[1] : b.transpose({operands[1]}, {.permutation = {1, 0}});
    return b.dense({operands[0], out_in});
  }

  // The operand's dense node, if nothing else reads it and it has no epilogue yet.
  const Node* plain_dense(const Builder& b, const Node& user, std::size_t place, const std::vector<Value>& operands,
                          std::uint32_t uses = 1) const {
    const Node& dense = b.so_far().node(operands[place].node);
    if (uses_[user.operands[place].node] != uses) return nullptr;
    if (dense.op == Op::quantized_dense)
      return std::get<QuantizedDense>(dense.attributes).has_residual ? nullptr : &dense;
    if (dense.op != Op::dense) return nullptr;
    return std::get<Dense>(dense.attributes).has_residual ? nullptr : &dense;
  }

  std::optional<Value> sum(Builder& b, const Node& node, const std::vector<Value>& operands) const {
    for (const std::size_t place : {0u, 1u}) {
      const Node* found = plain_dense(b, node, place, operands);
      if (found == nullptr) continue;
      const Node dense = *found;
      const Value other = operands[1 - place];
      if (dense.op == Op::dense) return with_addend<DenseOperands<>>(b, dense, other);
      return with_addend<QuantizedDenseOperands<>>(b, dense, other);
    }
    return std::nullopt;
  }

  // The same product with a bias or residual added.
  template <typename Operands>
  static Value with_addend(Builder& b, const Node& dense, Value addend) {
    auto operands = Operands::of(dense);
    const auto& attributes = std::get<typename Operands::Attributes>(dense.attributes);
    const std::optional<Value> bias = bias_row(b, addend);
    if (bias && !operands.bias && attributes.activation == Activation::none)
      operands.bias = bias;
    else
      operands.residual = addend;
    return b.emit(dense.op, operands.list(), operands.flagged(attributes)).front();
  }

  // A constant row that is broadcast along all axes but the last.
  static std::optional<Value> bias_row(Builder& b, Value value) {
    const std::optional<Value> row = repeated_row(b.so_far(), value);
    return row && is_constant(b.so_far(), *row) ? std::optional(flat_row(b, *row)) : std::nullopt;
  }

  static bool is_zero(const Graph& graph, Value value) {
    const Node& node = graph.node(value.node);
    if (node.op == Op::broadcast_in_dim) return is_zero(graph, node.operands[0]);
    if (node.op != Op::constant) return false;
    const Constant& constant = *graph.constants()[static_cast<std::size_t>(std::get<Index>(node.attributes).index)];
    if (!constant.is_leaf() || constant.shape.rank() != 0) return false;
    for (const std::byte byte : constant.tensor.bytes()) {
      if (byte != std::byte{0}) return false;
    }
    return true;
  }

  static std::optional<Activation> activation_of(const Graph& made, const Node& node,
                                                 const std::vector<Value>& operands) {
    switch (node.op) {
      case Op::gelu:
        return std::get<Gelu>(node.attributes).tanh_approximation ? Activation::gelu_tanh : Activation::gelu_erf;
      case Op::silu: return Activation::silu;
      case Op::tanh: return Activation::tanh;
      case Op::logistic: return Activation::sigmoid;
      case Op::max: return is_zero(made, operands[1]) ? std::optional(Activation::relu) : std::nullopt;
      default: return std::nullopt;
    }
  }

  std::optional<Value> activated(Builder& b, const Node& node, const std::vector<Value>& operands,
                                 Activation activation) const {
    return with_activation(b, plain_dense(b, node, 0, operands), activation);
  }

  // x · logistic(1.702 · x), both of which read the dense.
  std::optional<Value> quick_gelu(Builder& b, const Node& node, const std::vector<Value>& operands) const {
    for (const std::size_t place : {0u, 1u}) {
      const Value x = operands[place];
      const Node* gate = node_if(b.so_far(), operands[1 - place], Op::logistic);
      if (gate == nullptr) continue;
      const Product product = product_of(b.so_far(), gate->operands[0]);
      if (product.factors == std::vector<Value>{x} && is_about(b.shape(x).dtype, product.coefficient, 1.702))
        return with_activation(b, plain_dense(b, node, place, operands, 2), Activation::quick_gelu);
    }
    return std::nullopt;
  }

  static std::optional<Value> with_activation(Builder& b, const Node* found, Activation activation) {
    if (found == nullptr) return std::nullopt;
    const Node dense = *found;
    Attributes attributes = dense.attributes;
    Activation& own = dense.op == Op::dense ? std::get<Dense>(attributes).activation
                                            : std::get<QuantizedDense>(attributes).activation;
    if (own != Activation::none) return std::nullopt;
    own = activation;
    return b.emit(dense.op, dense.operands, std::move(attributes)).front();
  }

  const Graph& graph_;
  std::vector<std::uint32_t> uses_;
  Rewriter rewriter_;
};

}  // namespace

Graph fuse_dense(const Graph& graph) { return DenseFusion(graph).run(); }

}  // namespace alate::graph
