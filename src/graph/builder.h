// Graph builder with one method per op, generated from the op table.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace alate::graph {

/// Not thread-safe. Shapes are inferred as nodes are added, so that an error is reported where it is made.
class Builder {
 public:
  explicit Builder(std::string name, std::shared_ptr<DimTable> dims = nullptr);

  /// The dim of this name; see DimTable::named.
  Dim dim(std::string_view name, std::int64_t min = 0, std::optional<std::int64_t> max = {}, bool paddable = false);

  Value parameter(std::string name, Shape shape, bool donatable = false);
  /// One node per identity: adding the same constant twice gives the same value.
  Value constant(ConstantPtr constant);
  Value constant(Tensor tensor) { return this->constant(make_constant("literal", std::move(tensor))); }
  /// A scalar constant of any dtype, rounded to it; the real part of a complex one.
  Value scalar(DType dtype, double value);

// b.add({x, y}), b.transpose({x}, {.permutation = {1, 0}}) …
#define ALATE_LEAF_OP(...)
#define ALATE_REGION_OP(...)
#define ALATE_OP(name, arity, attribute, ...) Value name(std::vector<Value> operands, attribute attributes = {});
#define ALATE_FUSED_OP ALATE_OP
// Ops with several results: b.top_k({x}, {.k = 5}).at(1) …
#define ALATE_MULTI_OP(name, arity, attribute, ...) \
  std::vector<Value> name(std::vector<Value> operands, attribute attributes = {});
#define ALATE_MULTI_FUSED_OP ALATE_MULTI_OP
#include "graph/ops.def"

  std::vector<Value> while_loop(std::vector<Value> initial, Region condition, Region body);
  /// `operands[0]` is the condition.
  std::vector<Value> if_else(std::vector<Value> operands, Region then, Region otherwise);
  std::vector<Value> call(std::vector<Value> operands, Region callee);
  /// `operands` are the inputs, then an initial scalar for each.
  std::vector<Value> reduce(std::vector<Value> operands, Axes axes, Region combine);
  std::vector<Value> sort(std::vector<Value> operands, Sort attributes, Region comes_before);

  /// Any op of the table; returns its results. Throws invalid_argument as `verify` does.
  std::vector<Value> emit(Op op, std::vector<Value> operands, Attributes attributes, std::vector<Region> regions = {});

  /// Sets the source of the nodes that are added from here on.
  void set_source(std::string_view source);

  void output(std::string name, Value value, std::optional<std::size_t> aliases_parameter = {});

  const Shape& shape(Value value) const { return graph_.shape(value); }
  const Graph& so_far() const { return graph_; }
  const std::shared_ptr<DimTable>& dims() const { return graph_.dims_; }

  /// The graph, verified; the builder is empty afterwards.
  Graph finish();

 private:
  Value append(Node node);

  Graph graph_;
  SourceId source_ = 0;
  std::map<Fingerprint, Value> constants_;
  std::map<std::string, SourceId, std::less<>> sources_;
};

// Builder functions over the ops.

/// `value` broadcast to `dims`, aligned at the last axes; where it has the same rank, extents of 1 repeat. A scalar
/// repeats everywhere.
Value broadcast_to(Builder& b, Value value, const Dims& dims);
/// A scalar constant of x's dtype, broadcast to x's dims.
Value scalar_like(Builder& b, double value, Value x);
/// Rows of `table` [rows, ...] at `indices` (integers, any dims): [indices..., ...].
Value take_rows(Builder& b, Value table, Value indices);
/// Reduces `axes` and keeps them with extent 1, by reshaping.
Value reduce_keep(Builder& b, Op reduction, Value x, const Numbers& axes);

}  // namespace alate::graph
