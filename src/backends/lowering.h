// Lowering: turns a graph as models build it into one that a backend runs op by op.
#pragma once

#include <functional>
#include <string_view>

#include "backends/backend.h"

namespace alate::backends {

/// How a backend would run a node.
using NodeSupport = std::function<Support(const graph::Graph&, const graph::Node&)>;

/// Runs the passes, decomposes nodes that `supports` does not call native, and folds constants in the result; `options`
/// may ask for a log and a dump. Throws as `require_native` for nodes that remain.
graph::Graph lower(std::string_view backend, const graph::Graph& graph, const CompileOptions& options,
                   const NodeSupport& supports);

}  // namespace alate::backends
