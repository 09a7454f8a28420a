#include <algorithm>

#include "graph/passes.h"
#include "graph/passes/rewriter.h"

namespace alate::graph {
namespace {

Graph run_with_regions(const Graph& graph, const Pass& pass) {
  const auto nodes = graph.nodes();
  if (std::all_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.regions.empty(); }))
    return pass.run(graph);
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < nodes.size(); ++id) {
    std::vector<Region> regions;
    for (const Region& region : nodes[id].regions)
      regions.push_back(std::make_shared<const Graph>(run_with_regions(*region, pass)));
    rewriter.copy(id, regions);
  }
  return pass.run(rewriter.finish());
}

}  // namespace

Graph run_passes(Graph graph, const PassPipeline& pipeline, PassLog* log, const PassWatcher& watcher) {
  for (const Pass& pass : pipeline) {
    const std::size_t before = graph.nodes().size();
    const auto start = std::chrono::steady_clock::now();
    graph = run_with_regions(graph, pass);
    if (log != nullptr)
      log->push_back({pass.name, before, graph.nodes().size(), std::chrono::steady_clock::now() - start});
    if (watcher) watcher(pass.name, graph);
  }
  return graph;
}

PassPipeline standard_passes(const PassPreferences& preferences) {
  const IsNative& is_native = preferences.is_native;
  PassPipeline pipeline = {
      {"fold_constants", fold_constants},
      {"simplify_arithmetic", simplify_arithmetic},
      {"simplify_shapes", simplify_shapes},
  };
  if (const auto layout = preferences.convolution_layout)
    pipeline.push_back(
        {"choose_convolution_layout", [=](const Graph& graph) { return choose_convolution_layout(graph, *layout); }});
  const PassPipeline rest = {
      // Patterns compare values by identity, so equal ones must be merged first; values moved together become equal.
      {"sink_transposes", sink_transposes},
      {"simplify_shapes", simplify_shapes},
      {"eliminate_common_subexpressions", eliminate_common_subexpressions},
      {"fuse_activations", fuse_activations},
      {"fuse_norms", fuse_norms},
      {"fuse_softmax", fuse_softmax},
      {"fuse_rope", [=](const Graph& graph) { return fuse_rope(graph, is_native); }},
      {"fuse_attention", [=](const Graph& graph) { return fuse_attention(graph, is_native); }},
      {"eliminate_dead_nodes", eliminate_dead_nodes},
      {"simplify_shapes", simplify_shapes},
      {"fuse_dense", fuse_dense},
      {"fold_constants", fold_constants},  // weights transposed by sink_transposes
      {"eliminate_dead_nodes", eliminate_dead_nodes},
      {"narrow_fusions", [=](const Graph& graph) { return narrow_fusions(graph, is_native); }},
      {"eliminate_dead_nodes", eliminate_dead_nodes},
      {"merge_projections", merge_projections},
      {"pick_rows_early", pick_rows_early},
      {"fold_constants", fold_constants},
      {"eliminate_dead_nodes", eliminate_dead_nodes},
  };
  pipeline.insert(pipeline.end(), rest.begin(), rest.end());
  return pipeline;
}

}  // namespace alate::graph
