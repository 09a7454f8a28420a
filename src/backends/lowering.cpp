#include "backends/lowering.h"

#include "backends/spelling.h"
#include "graph/decompose.h"

namespace alate::backends {

graph::Graph lower(std::string_view backend, const graph::Graph& graph, const CompileOptions& options,
                   const NodeSupport& supports) {
  const graph::IsNative is_native = [&](const graph::Graph& g, const graph::Node& node) {
    return supports(g, node).native;
  };
  graph::PassPipeline pipeline = graph::standard_passes({.is_native = is_native});
  pipeline.push_back({"decompose", [&](const graph::Graph& g) { return graph::decompose(g, is_native); }});
  pipeline.push_back({"eliminate_common_subexpressions", graph::eliminate_common_subexpressions});
  pipeline.push_back({"fold_constants", graph::fold_constants});
  pipeline.push_back({"eliminate_dead_nodes", graph::eliminate_dead_nodes});
  graph::PassWatcher watcher;
  if (options.dump != nullptr) {
    options.dump->write("input", graph);
    watcher = [&](std::string_view pass, const graph::Graph& after) { options.dump->write(pass, after); };
  }
  graph::Graph lowered = graph::run_passes(graph, pipeline, options.log, watcher);
  require_native(backend, lowered, supports);
  return lowered;
}

}  // namespace alate::backends
