#include "graph/passes.h"
#include "graph/passes/matching.h"

namespace alate::graph {
namespace {

class Softmaxes {
 public:
  explicit Softmaxes(const Graph& graph) : graph_(graph) {}

  Replacement match(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.op != Op::div && node.op != Op::mul && node.op != Op::sub) return {};
    if (!contains(kComponents, node.results[0].dtype)) return {};
    for (std::int64_t axis = static_cast<std::int64_t>(node.results[0].rank()) - 1; axis >= 0; --axis) {
      const Rows rows(graph_, node.results[0].dims, axis);
      if (const std::optional<Value> x = of_probabilities(rows, node))
        return [x, axis](Rewriter& rewriter, Builder& b) { return b.softmax({rewriter.mapped(*x)}, {.axis = axis}); };
      if (const std::optional<Value> x = of_logarithms(rows, node))
        return
            [x, axis](Rewriter& rewriter, Builder& b) { return b.log_softmax({rewriter.mapped(*x)}, {.axis = axis}); };
    }
    return {};
  }

 private:
  // x, if the value is x - max(x).
  std::optional<Value> below_largest(const Rows& rows, Value value) const {
    const Node* difference = node_if(graph_, value, Op::sub);
    if (difference == nullptr || rows.reduced(difference->operands[1], Op::reduce_max) != difference->operands[0])
      return std::nullopt;
    return difference->operands[0];
  }

  // exp(x - max) / sum(exp(x - max)), also times the sum's inverse.
  std::optional<Value> of_probabilities(const Rows& rows, const Node& node) const {
    const auto of = [&](Value exponentials, Value sum) -> std::optional<Value> {
      const Node* power = node_if(graph_, exponentials, Op::exp);
      if (power == nullptr || rows.reduced(sum, Op::reduce_sum) != exponentials) return std::nullopt;
      return below_largest(rows, power->operands[0]);
    };
    if (node.op == Op::div) return of(node.operands[0], node.operands[1]);
    if (node.op != Op::mul) return std::nullopt;
    return in_any_order(node, [&](Value exponentials, Value inverse) -> std::optional<Value> {
      const Node* quotient = node_if(graph_, rows.peel(inverse), Op::div);
      if (quotient == nullptr || uniform_number(graph_, quotient->operands[0]) != 1) return std::nullopt;
      return of(exponentials, quotient->operands[1]);
    });
  }

  // (x - max) - log(sum(exp(x - max))).
  std::optional<Value> of_logarithms(const Rows& rows, const Node& node) const {
    if (node.op != Op::sub) return std::nullopt;
    const Node* logarithm = node_if(graph_, rows.peel(node.operands[1]), Op::log);
    if (logarithm == nullptr) return std::nullopt;
    const std::optional<Value> exponentials = rows.reduced(logarithm->operands[0], Op::reduce_sum);
    const Node* power = exponentials ? node_if(graph_, *exponentials, Op::exp) : nullptr;
    if (power == nullptr || power->operands[0] != node.operands[0]) return std::nullopt;
    return below_largest(rows, node.operands[0]);
  }

  const Graph& graph_;
};

}  // namespace

Graph fuse_softmax(const Graph& graph) {
  const Softmaxes softmaxes(graph);
  return replace_matches(graph, [&](NodeId id) { return softmaxes.match(id); });
}

}  // namespace alate::graph
