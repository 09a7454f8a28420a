// A backend's capabilities as a table: the ops it runs natively and its names for them.
#pragma once

#include <span>
#include <string_view>

#include "backends/backend.h"
#include "graph/op.h"

namespace alate::backends {

/// One op that a backend runs natively, for these dtypes of the operand that it computes with (the first such one).
struct Spelling {
  graph::Op op;
  graph::DTypeSet dtypes;
  std::string_view spelling;
};

/// The dtype by which a node is looked up: that of the first operand it computes with, or of the result where there is
/// none.
DType asked_dtype(const graph::Graph& graph, const graph::Node& node);

/// The row for this node and its asked_dtype, or why there is none.
Support look_up(std::span<const Spelling> table, const graph::Graph& graph, const graph::Node& node);

/// Throws unsupported, naming op, dtype, backend and source, for the first node without a native spelling in the graph
/// or its regions.
void require_native(std::string_view backend, const graph::Graph& graph,
                    const std::function<Support(const graph::Graph&, const graph::Node&)>& supports);

}  // namespace alate::backends
