// if_else and call: the op again, over the gradients of its regions. What a region computes is computed again there.
#include <memory>

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

constexpr GradientRule kRules[] = {
    {Op::if_else, [](Backward& call) { through_regions(call, 1); }},
    {Op::call, [](Backward& call) { through_regions(call, 0); }},
    no_gradient(Op::reduce, "its region may fold in any way; reduce_sum, _product, _max and _min have one"),
};

}  // namespace

std::span<const GradientRule> region_gradients() { return kRules; }

}  // namespace alate::graph
