// Emitter of the nodes, initializers and subgraphs of one ONNX model.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/onnx/attribute.h"
#include "exchange/onnx/term.h"
#include "exchange/onnx_writer.h"
#include "exchange/protobuf_writer.h"
#include "graph/graph.h"

namespace alate::exchange::onnx {

/// Builds a subgraph's outputs from its inputs.
using Body = std::function<Terms(const Terms&)>;

/// Nodes are added to the innermost open graph; constants and extents of named dims to the outermost, which is visible
/// inside. Names are unique.
class Emitter {
 public:
  Emitter(const graph::Graph& graph, const OnnxOptions& options);
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  int opset() const { return options_.opset; }

  /// A node with one result, of `dtype`.
  Term node(std::string_view op, DType dtype, const Terms& inputs, const Attributes& attributes = {});
  /// A node with results of these dtypes. An input without a name is omitted.
  Terms nodes(std::string_view op, const std::vector<DType>& dtypes, const Terms& inputs,
              const Attributes& attributes = {});

  Term scalar(DType dtype, double value);
  Term integer(DType dtype, std::int64_t value);
  /// i64 [n].
  Term integers(const std::vector<std::int64_t>& values);
  Term constant(const graph::ConstantPtr& constant);

  /// Extents as i64 [n].
  Term extents(const std::vector<Dim>& dims);
  Term extent(Dim dim) { return extents({dim}); }

  /// A graph for an attribute, with inputs of these dtypes, the first `scalars` of which are scalars.
  struct Written {
    Subgraph subgraph;
    std::vector<DType> dtypes;  // of its outputs
  };
  Written subgraph(const std::vector<DType>& parameters, std::size_t scalars, const Body& body);

  /// A counted loop. `body` takes the iteration (i64 scalar) and the state; it returns the next state, then values to
  /// stack over iterations along a new first axis. Returns the last state and the stacked values.
  Terms repeat(const Term& count, const Terms& state, const Body& body);
  /// Loops while `condition` (a bool scalar of the state) holds.
  Terms repeat_while(const Terms& state, const Body& condition, const Body& body);

  OnnxModel finish(const std::vector<std::pair<std::string, Term>>& outputs, const std::vector<Shape>& shapes);
  Term parameter(std::size_t place) const { return parameters_.at(place); }

 private:
  std::string new_name() { return unique("v"); }
  std::string unique(std::string_view wanted);
  Term tensor(DType dtype, std::span<const std::int64_t> extents, std::string_view bytes);
  Term dim_extent(DimId id);
  Term name_extent(DimId id);
  Term form_extent(const graph::DimEntry& entry);
  Term form_extent(const graph::DimForm& form);
  ProtobufWriter value_info(const std::string& name, const Shape& shape) const;

  const graph::Graph& graph_;
  OnnxOptions options_;
  std::set<std::string, std::less<>> names_;
  std::size_t next_name_ = 0;
  Terms parameters_;
  ProtobufWriter initializers_, prologue_;  // fields of the outermost graph
  std::vector<ProtobufWriter> open_{1};     // nodes of the open graphs, the innermost last
  std::map<std::string, Term> tensors_;     // by dtype, extents and bytes
  std::map<Fingerprint, Term> constants_;
  std::map<DimId, Term> dim_extents_;
  std::vector<OnnxInitializer> external_;
};

}  // namespace alate::exchange::onnx
