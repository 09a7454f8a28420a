#include <numbers>

#include "graph/passes.h"
#include "graph/passes/matching.h"

namespace alate::graph {
namespace {

class Activations {
 public:
  explicit Activations(const Graph& graph) : graph_(graph) {}

  Replacement match(NodeId id) const {
    const Node& node = graph_.node(id);
    if (!contains(kComponents, node.results[0].dtype)) return {};
    if (node.op == Op::div) return quotient(node);
    if (node.op != Op::mul) return {};
    const Product product = product_of(graph_, {id, 0});
    if (product.factors.size() != 2) return {};
    for (const std::size_t place : {0u, 1u}) {
      const Value x = product.factors[place], gate = product.factors[1 - place];
      if (const Op op = gate_of(x, gate, product.coefficient); op != Op::mul) {
        const bool by_tanh = op == Op::tanh;
        return [x, op, by_tanh](Rewriter& rewriter, Builder& b) {
          const Value input = rewriter.mapped(x);
          return op == Op::logistic ? b.silu({input}) : b.gelu({input}, {.tanh_approximation = by_tanh});
        };
      }
    }
    return {};
  }

 private:
  bool about(Value like, double found, double wanted) const {
    return is_about(graph_.shape(like).dtype, found, wanted);
  }

  // The op in x · coefficient · gate: logistic, erf or tanh; mul for none of them.
  Op gate_of(Value x, Value gate, double coefficient) const {
    const Node& node = node_of(graph_, gate);
    if (node.op == Op::logistic) return node.operands[0] == x && coefficient == 1 ? Op::logistic : Op::mul;
    if (node.op != Op::add) return Op::mul;
    // 0.5 · (1 + f) or (0.5 + 0.5 · f), in any order.
    for (const std::size_t place : {0u, 1u}) {
      const std::optional<double> offset = uniform_number(graph_, node.operands[place]);
      if (!offset) continue;
      const Product rest = product_of(graph_, node.operands[1 - place]);
      if (rest.factors.size() != 1 || !about(x, coefficient * *offset, 0.5) ||
          !about(x, coefficient * rest.coefficient, 0.5))
        return Op::mul;
      const Node& curve = node_of(graph_, rest.factors[0]);
      if (curve.op == Op::erf && is_scaled(curve.operands[0], x, 1 / std::numbers::sqrt2)) return Op::erf;
      if (curve.op == Op::tanh && is_cubic(curve.operands[0], x)) return Op::tanh;
    }
    return Op::mul;
  }

  bool is_scaled(Value value, Value x, double scale) const {
    const Product product = product_of(graph_, value);
    return product.factors == std::vector<Value>{x} && about(x, product.coefficient, scale);
  }

  // sqrt(2/π) · (x + 0.044715 · x³), also as sqrt(2/π) · x · (1 + 0.044715 · x²).
  bool is_cubic(Value value, Value x) const {
    constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, kCubic = 0.044715;
    const Product product = product_of(graph_, value);
    if (!about(x, product.coefficient, kScale)) return false;
    const bool is_factored = product.factors.size() == 2;
    const std::optional<std::vector<Value>> sums =
        is_factored ? without(product.factors, x) : std::optional(product.factors);
    if (!sums || sums->size() != 1) return false;
    const Node* sum = node_if(graph_, sums->front(), Op::add);
    if (sum == nullptr) return false;
    for (const std::size_t place : {0u, 1u}) {
      const Product first = product_of(graph_, sum->operands[place]),
                    power = product_of(graph_, sum->operands[1 - place]);
      const std::vector<Value> linear(is_factored ? 0 : 1, x), cubic(is_factored ? 2 : 3, x);
      if (first.factors == linear && first.coefficient == 1 && power.factors == cubic &&
          about(x, power.coefficient, kCubic))
        return true;
    }
    return false;
  }

  // 1 / (1 + exp(-x)) and x / (1 + exp(-x)).
  Replacement quotient(const Node& node) const {
    const Node* sum = node_if(graph_, node.operands[1], Op::add);
    if (sum == nullptr) return {};
    for (const std::size_t place : {0u, 1u}) {
      const Node* power = node_if(graph_, sum->operands[1 - place], Op::exp);
      if (power == nullptr || uniform_number(graph_, sum->operands[place]) != 1) continue;
      const Product exponent = product_of(graph_, power->operands[0]);
      if (exponent.coefficient != -1 || exponent.factors.size() != 1) return {};
      const Value x = exponent.factors[0];
      if (node.operands[0] == x) return [x](Rewriter& rewriter, Builder& b) { return b.silu({rewriter.mapped(x)}); };
      if (uniform_number(graph_, node.operands[0]) == 1)
        return [x](Rewriter& rewriter, Builder& b) { return b.logistic({rewriter.mapped(x)}); };
    }
    return {};
  }

  const Graph& graph_;
};

}  // namespace

Graph fuse_activations(const Graph& graph) {
  const Activations activations(graph);
  return replace_matches(graph, [&](NodeId id) { return activations.match(id); });
}

}  // namespace alate::graph
