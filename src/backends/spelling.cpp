#include "backends/spelling.h"

#include <algorithm>

#include "alate/error.h"

namespace alate::backends {
DType asked_dtype(const graph::Graph& graph, const graph::Node& node) {
  if (node.operands.empty()) return node.results.front().dtype;
  const std::size_t computed = node.op == graph::Op::select ? 1 : 0;  // the first is the condition
  return graph.shape(node.operands[computed]).dtype;
}

Support look_up(std::span<const Spelling> table, const graph::Graph& graph, const graph::Node& node) {
  const DType dtype = asked_dtype(graph, node);
  const auto row = std::find_if(table.begin(), table.end(), [&](const Spelling& spelling) {
    return spelling.op == node.op && graph::contains(spelling.dtypes, dtype);
  });
  if (row != table.end()) return {.native = true, .spelling = row->spelling, .reason = {}};
  return {
      .native = false,
      .spelling = {},
      .reason = "no native " + std::string(graph::to_string(node.op)) + " for " + std::string(alate::to_string(dtype))};
}

void require_native(std::string_view backend, const graph::Graph& graph,
                    const std::function<Support(const graph::Graph&, const graph::Node&)>& supports) {
  for (const graph::Node& node : graph.nodes()) {
    if (graph::op_info(node.op).kind == graph::OpKind::leaf) continue;
    const Support support = supports(graph, node);
    if (!support.native) {
      const std::string& source = graph.source(node.source);
      throw make_error(ErrorCode::unsupported, "backend '", backend, "' cannot run ", graph::to_string(node.op),
                       " for ", alate::to_string(asked_dtype(graph, node)),
                       source.empty() ? "" : " (from " + source + ")", ": ", support.reason,
                       "; choose another backend, for example 'reference': ", graph::to_string(node.op));
    }
    for (const graph::Region& region : node.regions) require_native(backend, *region, supports);
  }
}

}  // namespace alate::backends
