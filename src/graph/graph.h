// Computation graphs: parameters, constants, ordered nodes and outputs.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "alate/tensor.h"
#include "graph/constant.h"
#include "graph/dims.h"
#include "graph/op.h"

namespace alate::graph {

using NodeId = std::uint32_t;
using SourceId = std::uint32_t;

/// One result of a node; valid for the graph that made it.
struct Value {
  NodeId node = 0;
  std::uint16_t result = 0;
  friend constexpr auto operator<=>(Value, Value) = default;
};

class Graph;
/// Closed: a region reads only its own parameters and constants. It shares its parent's dim table.
using Region = std::shared_ptr<const Graph>;

struct Node {
  Op op = Op::parameter;
  Attributes attributes;
  std::vector<Value> operands;
  std::vector<Shape> results;
  std::vector<Region> regions;
  SourceId source = 0;  // origin ("encoder.layer.0.attention", an ONNX node's name); see Graph::source
};

struct Parameter {
  std::string name;
  Shape shape;
  bool donatable = false;  // the caller gives up the buffer: an output may reuse it
};

struct Output {
  std::string name;
  Value value;
  std::optional<std::size_t> aliases_parameter;  // donated parameter whose buffer it reuses: KV caches, optimizer state
};

/// Immutable once built (by Builder::finish); nodes are in topological order. Safe to share among threads.
class Graph {
 public:
  const std::string& name() const { return name_; }
  std::span<const Parameter> parameters() const { return parameters_; }
  std::span<const ConstantPtr> constants() const { return constants_; }
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Output> outputs() const { return outputs_; }
  const DimTable& dims() const { return *dims_; }
  const std::shared_ptr<DimTable>& shared_dims() const { return dims_; }
  const std::string& source(SourceId id) const { return sources_.at(id); }
  const Node& node(NodeId id) const { return nodes_.at(id); }
  const Shape& shape(Value value) const { return nodes_.at(value.node).results.at(value.result); }
  /// Covers everything that determines the results: ops, attributes, shapes, dims, names of parameters and outputs,
  /// identities of constants; not sources or the graph's name. Stable across processes.
  Fingerprint fingerprint() const;

 private:
  friend class Builder;
  std::string name_;
  std::vector<Parameter> parameters_;
  std::vector<ConstantPtr> constants_;
  std::vector<Node> nodes_;
  std::vector<Output> outputs_;
  std::vector<std::string> sources_{std::string()};
  std::shared_ptr<DimTable> dims_;
};

/// The number of outputs and operands that read each node's results.
std::vector<std::uint32_t> use_counts(const Graph& graph);

/// Checks that a graph is well-formed: operands before their users, arity, attributes of the op's kind, dtypes that the
/// op's row allows, shapes as the op's rule infers them, closed regions of the right signature, outputs that exist,
/// aliases only of donatable parameters of equal shape, at most one of each parameter and none in regions. Throws
/// invalid_argument naming op, operand, shapes, rule and source.
void verify(const Graph& graph);

}  // namespace alate::graph
