// Gradients of if_else and call: the same op over the gradients of its regions, which recompute the region's values;
// and of reduce, if its region is one op that has a reduction of its own.
#include <memory>
#include <optional>

#include "graph/gradients/rules.h"

namespace alate::graph {
namespace {

// Operands from `first` on are the regions' parameters.
void through_regions(Backward& call, std::size_t first) {
  std::vector<std::size_t> results, parameters;
  std::vector<Value> operands = call.node.operands;
  for (std::size_t i = 0; i < call.cotangents.size(); ++i) {
    if (!call.cotangents[i]) continue;
    results.push_back(i);
    operands.push_back(*call.cotangents[i]);
  }
  for (std::size_t i = first; i < call.node.operands.size(); ++i) {
    if (call.wants(i)) parameters.push_back(i - first);
  }
  std::vector<Region> regions;
  for (const Region& region : call.node.regions)
    regions.push_back(std::make_shared<const Graph>(vector_jacobian_product(*region, results, parameters)));
  const std::vector<Value> found = call.b.emit(call.node.op, std::move(operands), NoAttributes{}, std::move(regions));
  for (std::size_t i = 0; i < parameters.size(); ++i) call.give(first + parameters[i], found[i]);
}

struct Folding {
  Op op, reduction;
};

// The fold that a region of one op over its two parameters performs.
std::optional<Folding> folding_of(const Graph& region) {
  if (region.parameters().size() != 2 || region.outputs().size() != 1) return std::nullopt;
  const Node& node = region.node(region.outputs()[0].value.node);
  const bool is_of_both = node.operands.size() == 2 && node.operands[0] != node.operands[1] &&
                          region.node(node.operands[0].node).op == Op::parameter &&
                          region.node(node.operands[1].node).op == Op::parameter;
  if (!is_of_both) return std::nullopt;
  for (const Folding folding : {Folding{Op::add, Op::reduce_sum}, Folding{Op::mul, Op::reduce_product},
                                Folding{Op::max, Op::reduce_max}, Folding{Op::min, Op::reduce_min}}) {
    if (node.op == folding.op) return folding;
  }
  return std::nullopt;
}

void reduce(Backward& call) {
  Builder& b = call.b;
  const std::optional<Folding> folding = folding_of(*call.node.regions[0]);
  if (!folding) call.fail("its region is not one of add, mul, max and min over its two parameters");
  call.differentiate([&] {
    const Value reduced = b.emit(folding->reduction, {call.x(0)}, call.as<Axes>()).front();
    const Value start = broadcast_to(b, call.x(1), call.y_shape().dims);
    return b.emit(folding->op, {start, reduced}, NoAttributes{});
  });
}

constexpr GradientRule kRegionRules[] = {
    {Op::if_else, [](Backward& call) { through_regions(call, 1); }},
    {Op::call, [](Backward& call) { through_regions(call, 0); }},
    {Op::reduce, reduce},
};

}  // namespace

std::span<const GradientRule> region_gradients() { return kRegionRules; }

}  // namespace alate::graph
