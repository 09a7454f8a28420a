// A backend's capability, as data: the ops it runs natively and what it calls them.
#pragma once

#include <span>
#include <string_view>

#include "backends/backend.h"
#include "graph/op.h"

namespace alate::backends {

/// One op that a backend runs natively, for operands (the first that computes) of these dtypes.
struct Spelling {
  graph::Op op;
  graph::DTypeSet dtypes;
  std::string_view spelling;
};

/// The dtype that a node is looked up by: of the first operand that it computes with, or of the result where there is
/// none.
DType asked_dtype(const graph::Graph& graph, const graph::Node& node);

/// The row for this node, or why there is none. The dtype asked about is that of the first operand, or of the result
/// where there is no operand.
Support look_up(std::span<const Spelling> table, const graph::Graph& graph, const graph::Node& node);

/// Throws unsupported naming op, dtype, backend and source of the first node without native spelling, in the graph or
/// its regions.
void require_native(std::string_view backend, const graph::Graph& graph,
                    const std::function<Support(const graph::Graph&, const graph::Node&)>& supports);

}  // namespace alate::backends
