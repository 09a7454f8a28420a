// Pattern matching for passes: uniform constants, products as factors, and per-row values.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "graph/builder.h"
#include "graph/passes/rewriter.h"

namespace alate::graph {

inline const Node& node_of(const Graph& graph, Value value) { return graph.node(value.node); }
/// The node that produces a value if it is this op, else null.
const Node* node_if(const Graph& graph, Value value, Op op);
bool is_constant(const Graph& graph, Value value);

/// The number (bool as 0 or 1) that every element of a value equals: a one-element constant, possibly broadcast,
/// reshaped or transposed. None for complex values and integers that a double cannot represent.
std::optional<double> uniform_number(const Graph& graph, Value value);
/// Whether every element is `number` up to rounding to the value's dtype.
bool is_about(const Graph& graph, Value value, double number);
bool is_about(DType dtype, double value, double number);

/// The [width] value (or with leading extents of 1) that is broadcast along all axes of a value but the last.
std::optional<Value> repeated_row(const Graph& graph, Value value);
/// Such a row as [width].
Value flat_row(Builder& b, Value row);
/// A constant [width] of one number, which is expanded only where its bytes are needed.
Value constant_row(Builder& b, DType dtype, std::int64_t width, double number);

/// A product of floats as factors, through mul, neg, div by a number, and pow by 2 and 3.
struct Product {
  double coefficient = 1;
  std::vector<Value> factors;  // sorted
};
Product product_of(const Graph& graph, Value value);
/// The factors without the first occurrence of `factor`; none if it does not occur.
std::optional<std::vector<Value>> without(std::vector<Value> factors, Value factor);

/// Tries `match` on the operands of a commutative op in both orders; returns the first non-empty result.
template <typename Match>
auto in_any_order(const Node& node, const Match& match) -> decltype(match(Value(), Value())) {
  if (auto found = match(node.operands[0], node.operands[1])) return found;
  return match(node.operands[1], node.operands[0]);
}

/// Matches values with one number per row (slice along one axis) of some dims: without that axis, with extent 1 for it,
/// or broadcast along it.
class Rows {
 public:
  Rows(const Graph& graph, Dims dims, std::int64_t axis);

  /// The value without broadcasts and reshapes that only change how its rows are expressed.
  Value peel(Value value) const;
  /// The operand, if the value is this reduction of it over the axis.
  std::optional<Value> reduced(Value value, Op reduction) const;
  /// The operand, if the value is its mean over the axis (a sum divided by the extent, or times its inverse).
  std::optional<Value> averaged(Value value) const;
  /// x, if the value is x - mean(x).
  std::optional<Value> centered(Value value) const;
  /// Whether the value has the full dims.
  bool is_whole(Value value) const { return graph_.shape(value).dims == dims_; }

 private:
  bool has_rows(const Dims& dims) const { return dims == without_ || dims == kept_; }

  const Graph& graph_;
  Dims dims_, without_, kept_;
  std::int64_t axis_;
};

/// Builds the replacement of a node's only result.
using Replacement = std::function<Value(Rewriter& rewriter, Builder& builder)>;
/// The graph with each node replaced for which `match` gives a replacement; the graph itself if there is none. Nodes
/// that become dead are left to eliminate_dead_nodes.
Graph replace_matches(const Graph& graph, const std::function<Replacement(NodeId)>& match);

}  // namespace alate::graph
