// What passes read of a graph: numbers behind constants, products as factors, and values that stand once for each row.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "graph/builder.h"
#include "graph/passes/rewriter.h"

namespace alate::graph {

inline const Node& node_of(const Graph& graph, Value value) { return graph.node(value.node); }
/// The node that makes a value, where it is this op; else null.
const Node* node_if(const Graph& graph, Value value, Op op);
bool is_constant(const Graph& graph, Value value);

/// The one number (bool as 0 or 1) that every element of a value is: a constant of one element, also repeated,
/// reshaped or transposed. Nothing for complex values and for integers that a double does not hold.
std::optional<double> uniform_number(const Graph& graph, Value value);
/// Whether every element is `number`, or differs from it as little as rounding to the value's dtype does.
bool is_about(const Graph& graph, Value value, double number);
bool is_about(DType dtype, double value, double number);

/// A constant [width] of one number, which is repeated where its bytes are needed.
Value constant_row(Builder& b, DType dtype, std::int64_t width, double number);

/// A product of floats taken apart: mul, neg, div by a number, and pow of 2 and 3.
struct Product {
  double coefficient = 1;
  std::vector<Value> factors;  // sorted
};
Product product_of(const Graph& graph, Value value);
/// The factors without the first that is `factor`; nothing where none is.
std::optional<std::vector<Value>> without(std::vector<Value> factors, Value factor);

/// Two operands of a commutative op, in both orders: the first result of `match` that is something.
template <typename Match>
auto in_any_order(const Node& node, const Match& match) -> decltype(match(Value(), Value())) {
  if (auto found = match(node.operands[0], node.operands[1])) return found;
  return match(node.operands[1], node.operands[0]);
}

/// Values with one number for each row of some dims, a row being what lies along one axis: written without that axis,
/// with an extent of 1 for it, or repeated along it.
class Rows {
 public:
  Rows(const Graph& graph, Dims dims, std::int64_t axis);

  /// The value without repeats and reshapes that only write its rows another way.
  Value peel(Value value) const;
  /// The operand of this reduction over the axis, whose result the value is.
  std::optional<Value> reduced(Value value, Op reduction) const;
  /// The operand whose mean over the axis (a sum divided by the extent, or times its inverse) the value is.
  std::optional<Value> averaged(Value value) const;
  /// x, where the value is x - mean(x).
  std::optional<Value> centered(Value value) const;
  /// Whether the value has the whole dims.
  bool is_whole(Value value) const { return graph_.shape(value).dims == dims_; }

 private:
  bool has_rows(const Dims& dims) const { return dims == without_ || dims == kept_; }

  const Graph& graph_;
  Dims dims_, without_, kept_;
  std::int64_t axis_;
};

/// Makes what stands for a node's one result.
using Replacement = std::function<Value(Rewriter& rewriter, Builder& builder)>;
/// The graph with a replacement for each node for which `match` gives one; the graph itself where there is none. What
/// is then read no more stays, for eliminate_dead_nodes.
Graph replace_matches(const Graph& graph, const std::function<Replacement(NodeId)>& match);

}  // namespace alate::graph
