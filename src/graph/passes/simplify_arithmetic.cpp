#include <array>
#include <cmath>

#include "graph/passes.h"
#include "graph/passes/matching.h"

namespace alate::graph {
namespace {

constexpr std::array kUndoThemselves = {Op::neg, Op::logical_not, Op::bitwise_not, Op::conj};

// Whether `wide` holds every value of `narrow`, so that converting there and back changes nothing.
bool holds_all(DType wide, DType narrow) {
  if (!contains(kNumbers, wide) || !contains(kNumbers, narrow)) return false;
  if (is_float(narrow)) return wide == DType::f64 || (wide == DType::f32 && narrow != DType::f64);
  const std::size_t digits = bits_of(narrow) - (is_signed_integer(narrow) ? 1 : 0);
  if (wide == DType::f64) return digits <= 53;
  if (wide == DType::f32) return digits <= 24;
  if (is_float(wide)) return false;
  if (is_signed_integer(narrow) && !is_signed_integer(wide)) return false;
  return bits_of(wide) - (is_signed_integer(wide) ? 1 : 0) >= digits;
}

// Matches one node over its mapped operands, so that rules feed each other within one walk.
class Arithmetic {
 public:
  Arithmetic(Builder& b, const Node& node, const std::vector<Value>& operands)
      : b_(b), node_(node), operands_(operands), dtype_(node.results[0].dtype) {}

  std::optional<Value> simplified() {
    for (const Op op : kUndoThemselves) {
      if (node_.op == op) return undone();
    }
    switch (node_.op) {
      case Op::identity: return operands_[0];
      case Op::abs: return magnitude();
      case Op::convert: return conversion();
      case Op::select: return same(1, 2);
      case Op::max:
      case Op::min: return same(0, 1);
      case Op::logical_and:
      case Op::logical_or:
      case Op::bitwise_and:
      case Op::bitwise_or: return neutral_or_same(node_.op == Op::logical_and);
      // For floats only -0 is neutral: -0 + 0 is 0.
      case Op::add: return without_neutral([&](double y) { return y == 0 && (!is_float(dtype_) || std::signbit(y)); });
      case Op::mul: return without_neutral([](double y) { return y == 1; });
      case Op::sub: return without_last([&](double y) { return y == 0 && !std::signbit(y); });
      case Op::div: return without_last([](double y) { return y == 1; });
      case Op::pow: return power();
      default: return std::nullopt;
    }
  }

 private:
  const Graph& made() const { return b_.so_far(); }

  std::optional<Value> undone() const {
    const Node* before = node_if(made(), operands_[0], node_.op);
    return before == nullptr ? std::nullopt : std::optional(before->operands[0]);
  }

  // |-x| and ||x|| are |x|, even for the lowest integer, which both leave unchanged; not for unsigned integers, where
  // -x wraps and |x| is x.
  std::optional<Value> magnitude() {
    const Node& before = node_of(made(), operands_[0]);
    if (before.op == Op::abs) return operands_[0];
    if (before.op != Op::neg || is_unsigned_integer(dtype_)) return std::nullopt;
    const Value x = before.operands[0];
    return b_.abs({x});
  }

  std::optional<Value> conversion() const {
    // Not for storage-only dtypes: a conversion canonicalizes their NaN bits.
    if (b_.shape(operands_[0]).dtype == dtype_ && contains(kAll, dtype_)) return operands_[0];
    const Node* before = node_if(made(), operands_[0], Op::convert);
    if (before == nullptr) return std::nullopt;
    const Value x = before->operands[0];
    const bool is_back = b_.shape(x).dtype == dtype_ && holds_all(b_.shape(operands_[0]).dtype, dtype_);
    return is_back ? std::optional(x) : std::nullopt;
  }

  std::optional<Value> same(std::size_t i, std::size_t k) const {
    return operands_[i] == operands_[k] ? std::optional(operands_[i]) : std::nullopt;
  }

  // x and true, x or false. Integers of all ones are not matched.
  std::optional<Value> neutral_or_same(bool neutral) const {
    if (dtype_ == DType::boolean) {
      if (const auto found = without_neutral([&](double y) { return (y != 0) == neutral; })) return found;
    }
    return same(0, 1);
  }

  template <typename Rule>
  std::optional<Value> without_last(const Rule& is_neutral, std::size_t place = 1) const {
    const std::optional<double> number = uniform_number(made(), operands_[place]);
    return number && is_neutral(*number) ? std::optional(operands_[1 - place]) : std::nullopt;
  }
  template <typename Rule>
  std::optional<Value> without_neutral(const Rule& is_neutral) const {
    if (const auto found = without_last(is_neutral)) return found;
    return without_last(is_neutral, 0);
  }

  // x^2 is a product and x^-1 a quotient, each rounded once. x^0.5 is not a square root: they differ at -0 and -inf.
  std::optional<Value> power() {
    const std::optional<double> exponent = uniform_number(made(), operands_[1]);
    const Value x = operands_[0];
    if (exponent == 1) return x;
    if (exponent == 2) return b_.mul({x, x});
    if (exponent == -1 && is_float(dtype_)) return b_.div({scalar_like(b_, 1, x), x});
    return std::nullopt;
  }

  Builder& b_;
  const Node& node_;
  const std::vector<Value>& operands_;
  DType dtype_;
};

}  // namespace

Graph simplify_arithmetic(const Graph& graph) {
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.node(id);
    if (!op_info(node.op).has(kElementwise) || is_complex(node.results[0].dtype)) {
      rewriter.copy(id);
      continue;
    }
    const std::vector<Value> operands = rewriter.mapped(node.operands);
    if (const std::optional<Value> found = Arithmetic(rewriter.builder_at(id), node, operands).simplified()) {
      rewriter.replace(id, {*found});
    } else {
      rewriter.copy(id);
    }
  }
  return rewriter.finish();
}

}  // namespace alate::graph
