#include "graph/passes.h"
#include "graph/passes/matching.h"

namespace alate::graph {
namespace {

// x · rsqrt(mean(x²) + epsilon), where x may be centered, with a scale and shift along the last axis.
struct Normal {
  Value x;
  bool is_centered;
  double epsilon;
  std::optional<Value> scale = {}, shift = {};
};

class Norms {
 public:
  explicit Norms(const Graph& graph) : graph_(graph) {}

  Replacement match(NodeId id) const {
    const Shape& shape = graph_.node(id).results[0];
    if (!contains(kComponents, shape.dtype) || shape.rank() == 0 || !shape.dims.back().is_number() ||
        shape.dims.back() == Dim(0))
      return {};
    std::optional<Normal> normal = shifted(graph_.node(id));
    if (!normal) normal = scaled({id, 0});
    if (!normal) return {};
    return [normal = *normal, shape](Rewriter& rewriter, Builder& b) {
      const auto row = [&](std::optional<Value> given, double otherwise) {
        if (given) return flat_row(b, rewriter.mapped(*given));
        return constant_row(b, shape.dtype, shape.dims.back().number(), otherwise);
      };
      const Value x = rewriter.mapped(normal.x), scale = row(normal.scale, 1);
      const Norm attributes{.epsilon = normal.epsilon};
      return normal.is_centered ? b.layer_norm({x, scale, row(normal.shift, 0)}, attributes)
                                : b.rms_norm({x, scale}, attributes);
    };
  }

 private:
  std::optional<Value> row_of(Value value) const {
    return graph_.shape(value).rank() == 1 ? std::optional(value) : repeated_row(graph_, value);
  }

  std::optional<Normal> shifted(const Node& node) const {
    if (node.op != Op::add) return std::nullopt;
    return in_any_order(node, [&](Value normal, Value shift) -> std::optional<Normal> {
      const std::optional<Value> row = row_of(shift);
      if (!row) return std::nullopt;
      std::optional<Normal> found = scaled(normal);
      if (found && !found->is_centered) return std::nullopt;  // rms_norm has no shift
      if (found) found->shift = row;
      return found;
    });
  }

  // A product or quotient of x, its deviation, and optionally a row.
  std::optional<Normal> scaled(Value value) const {
    const Node& node = node_of(graph_, value);
    if (node.op != Op::mul && node.op != Op::div) return std::nullopt;
    std::vector<Value> factors;
    std::vector<Value> divisors;
    if (!take_apart(value, factors, divisors, 0)) return std::nullopt;
    for (const bool divides : {false, true}) {
      std::vector<Value>& candidates = divides ? divisors : factors;
      for (const Value candidate : candidates) {
        const std::optional<std::vector<Value>> others = divides ? factors : without(factors, candidate);
        if (!others->empty() && divisors.size() == (divides ? 1u : 0u)) {
          if (auto found = with_deviation(value, candidate, *others, divides)) return found;
        }
      }
    }
    return std::nullopt;
  }

  // Splits a value into factors and divisors of the full dims, or broadcast to them.
  bool take_apart(Value value, std::vector<Value>& factors, std::vector<Value>& divisors, int depth) const {
    const Node& node = node_of(graph_, value);
    if (node.op == Op::mul && depth < 4) {
      return take_apart(node.operands[0], factors, divisors, depth + 1) &&
             take_apart(node.operands[1], factors, divisors, depth + 1);
    }
    if (node.op == Op::div && depth < 4) {
      divisors.push_back(node.operands[1]);
      return take_apart(node.operands[0], factors, divisors, depth + 1);
    }
    factors.push_back(value);
    return factors.size() <= 3;
  }

  std::optional<Normal> with_deviation(Value whole, Value deviation, const std::vector<Value>& others,
                                       bool divides) const {
    const Dims& dims = graph_.shape(whole).dims;
    const Rows rows(graph_, dims, static_cast<std::int64_t>(dims.size()) - 1);
    const std::optional<Value> variance = radicand(rows, deviation, divides);
    if (!variance || others.size() > 2) return std::nullopt;
    const Node* sum = node_if(graph_, *variance, Op::add);
    if (sum == nullptr) return std::nullopt;
    return in_any_order(*sum, [&](Value mean_square, Value small) -> std::optional<Normal> {
      const std::optional<double> epsilon = uniform_number(graph_, small);
      const std::optional<Value> square = rows.averaged(mean_square);
      if (!epsilon || !square) return std::nullopt;
      const Node& power = node_of(graph_, *square);
      const bool is_square = (power.op == Op::mul && power.operands[0] == power.operands[1]) ||
                             (power.op == Op::pow && uniform_number(graph_, power.operands[1]) == 2);
      if (!is_square) return std::nullopt;
      const Value x = power.operands[0];
      const std::optional<std::vector<Value>> rest = without(others, x);
      if (!rest) return std::nullopt;
      const std::optional<Value> centered = rows.centered(x);
      Normal normal{.x = centered.value_or(x), .is_centered = centered.has_value(), .epsilon = *epsilon};
      if (rest->size() == 1) normal.scale = row_of(rest->front());
      return rest->empty() || normal.scale ? std::optional(normal) : std::nullopt;
    });
  }

  // The radicand of a deviation, which is a square root, or an inverse square root if it is a factor.
  std::optional<Value> radicand(const Rows& rows, Value deviation, bool divides) const {
    const Value root = rows.peel(deviation);
    const Node& node = node_of(graph_, root);
    const auto is_root = [&](const Node& candidate) {
      return candidate.op == Op::sqrt ||
             (candidate.op == Op::pow && uniform_number(graph_, candidate.operands[1]) == 0.5);
    };
    if (divides) return is_root(node) ? std::optional(rows.peel(node.operands[0])) : std::nullopt;
    if (node.op == Op::rsqrt || (node.op == Op::pow && uniform_number(graph_, node.operands[1]) == -0.5))
      return rows.peel(node.operands[0]);
    if (node.op != Op::div || uniform_number(graph_, node.operands[0]) != 1) return std::nullopt;
    const Node& inverse = node_of(graph_, rows.peel(node.operands[1]));
    return is_root(inverse) ? std::optional(rows.peel(inverse.operands[0])) : std::nullopt;
  }

  const Graph& graph_;
};

}  // namespace

Graph fuse_norms(const Graph& graph) {
  const Norms norms(graph);
  return replace_matches(graph, [&](NodeId id) { return norms.match(id); });
}

}  // namespace alate::graph
