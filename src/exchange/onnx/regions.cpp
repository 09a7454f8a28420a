// Ops with regions: loops, branches, calls, and folds by a function.
#include "exchange/onnx/folds.h"
#include "exchange/onnx/spelling.h"

namespace alate::exchange::onnx {
namespace {

using graph::Op;

Terms while_loop(const Call& c) {
  const auto part = [&](std::size_t region) {
    return [&c, region](const Terms& state) { return write_graph(c.e, *c.node.regions[region], state); };
  };
  return c.e.repeat_while(c.operands, part(0), part(1));
}

Terms if_else(const Call& c) {
  const Terms arguments(c.operands.begin() + 1, c.operands.end());
  const auto branch = [&](std::size_t region) {
    return c.e.subgraph({}, 0, [&](const Terms&) { return write_graph(c.e, *c.node.regions[region], arguments); });
  };
  const Emitter::Written then = branch(0), otherwise = branch(1);
  return c.e.nodes("If", then.dtypes, {c[0]},
                   {attribute("then_branch", then.subgraph), attribute("else_branch", otherwise.subgraph)});
}

Terms call(const Call& c) { return write_graph(c.e, *c.node.regions[0], c.operands); }

// The region is applied to all remaining entries at once.
Terms reduce(const Call& c) {
  const auto half = static_cast<std::ptrdiff_t>(c.operands.size() / 2);
  const Terms inputs(c.operands.begin(), c.operands.begin() + half), first(c.operands.begin() + half, c.operands.end());
  return fold(inputs, c.shape().dims, c.as<graph::Axes>().axes, first,
              [&](const Terms& in) { return write_graph(c.e, *c.node.regions[0], in); });
}

std::string refuse_regions(const graph::Graph& /*graph*/, const graph::Node& node, int opset) {
  std::string reason;
  for (const graph::Region& region : node.regions) {
    for (const graph::Node& inner : region->nodes()) {
      const graph::OpKind kind = graph::op_info(inner.op).kind;
      // Fused ops without a spelling have been decomposed.
      if (kind == graph::OpKind::leaf || kind == graph::OpKind::fused) continue;
      if (find_spelling(*region, inner, opset, reason) == nullptr) return "in a region: " + reason;
    }
  }
  return "";
}

std::string refuse_reduce(const graph::Graph& graph, const graph::Node& node, int opset) {
  if (!is_elementwise(*node.regions[0])) return "the region has ops that are not element-wise";
  return refuse_regions(graph, node, opset);
}

constexpr graph::DTypeSet kHeld = kMoved | graph::kComplex;

constexpr Spelling kRegionRows[] = {
    {Op::while_loop, kHeld, "Loop", while_loop, refuse_regions},
    {Op::if_else, kHeld, "If", if_else, refuse_regions},
    {Op::call, kHeld, "(its ops)", call, refuse_regions},
    {Op::reduce, kMoved, "Loop", reduce, refuse_reduce},
};

}  // namespace

std::span<const Spelling> region_spellings() { return kRegionRows; }

}  // namespace alate::exchange::onnx
