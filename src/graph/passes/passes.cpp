#include "graph/passes.h"

namespace alate::graph {

Graph run_passes(Graph graph, const PassPipeline& pipeline, PassLog* log) {
  for (const Pass& pass : pipeline) {
    const std::size_t before = graph.nodes().size();
    const auto start = std::chrono::steady_clock::now();
    graph = pass.run(graph);
    if (log != nullptr)
      log->push_back({pass.name, before, graph.nodes().size(), std::chrono::steady_clock::now() - start});
  }
  return graph;
}

const PassPipeline& standard_passes() {
  static const PassPipeline pipeline = {
      {"fold_constants", fold_constants},
      {"fuse_dense", fuse_dense},
      {"eliminate_dead_nodes", eliminate_dead_nodes},
      {"merge_projections", merge_projections},
      {"fold_constants", fold_constants},
      {"eliminate_dead_nodes", eliminate_dead_nodes},
  };
  return pipeline;
}

}  // namespace alate::graph
