// Ops with regions, barriers, and one-device collectives.
#include "exchange/stablehlo/ops.h"
#include "exchange/stablehlo/rules.h"
#include "exchange/stablehlo/types.h"

namespace alate::exchange {

HloValues write_barrier(HloWriter& w, const HloCall& call) {
  if (call.operands.empty()) return {};
  return w.ops("optimization_barrier", call.operands, call.shapes);
}

HloValues write_alone(HloWriter&, const HloCall& call) { return call.operands; }

HloValues write_collective_permute(HloWriter& w, const HloCall& call) {
  if (call.as<graph::CollectivePermute>().source_target_pairs.empty()) return {splat(w, call.shape(), 0)};
  return call.operands;
}

HloValues write_while_loop(HloWriter& w, const HloCall& call) {
  if (call.operands.empty()) return {};
  const auto region = [&](std::size_t place) {
    return w.region(
        call.shapes,
        [&](const HloValues& values) { return write_nodes(w, *call.node.regions[place], call.dims, values); },
        HloWriter::Reads::surrounding_values);
  };
  const std::string condition = region(0);
  return w.ops("while", call.operands, call.shapes, {}, {condition, region(1)});
}

// StableHLO's branches have no parameters: they read the operands directly.
HloValues write_if_else(HloWriter& w, const HloCall& call) {
  if (call.shapes.empty()) return {};
  const HloValues taken(call.operands.begin() + 1, call.operands.end());
  const auto region = [&](std::size_t place) {
    return w.region(
        {}, [&](const HloValues&) { return write_nodes(w, *call.node.regions[place], call.dims, taken); },
        HloWriter::Reads::surrounding_values);
  };
  const std::string then = region(0);
  return w.ops("if", {call.operand(0)}, call.shapes, {}, {then, region(1)});
}

// Inlines the callee's nodes.
HloValues write_call(HloWriter& w, const HloCall& call) {
  return write_nodes(w, *call.node.regions[0], call.dims, call.operands);
}

HloValues write_generic_reduce(HloWriter& w, const HloCall& call) {
  const Numbers& axes = call.as<graph::Axes>().axes;
  const std::size_t count = call.shapes.size();
  std::vector<Shape> taken;
  for (std::size_t i = 0; i < 2 * count; ++i) taken.push_back({call.operand(i % count).shape.dtype, {}});
  const auto combined = [&](const HloValues& values) {
    return write_nodes(w, *call.node.regions[0], call.dims, values);
  };
  std::int64_t terms = 1;
  for (const std::int64_t axis : axes) terms *= call.operand(0).shape.dims[static_cast<std::size_t>(axis)].number();
  if (terms != 1)
    return w.ops("reduce", call.operands, call.shapes, "dimensions = " + array_attribute(axes),
                 {w.region(taken, combined)});
  // XLA returns a single element as the result, but the initial value need not be the identity.
  HloValues pairs, results;
  for (std::size_t i = 0; i < count; ++i)
    pairs.push_back(broadcast(w, call.operand(count + i), extents_of(call.shapes[i]), {}));
  for (std::size_t i = 0; i < count; ++i) pairs.push_back(reshape(w, call.operand(i), extents_of(call.shapes[i])));
  if (call.shape().rank() == 0) return combined(pairs);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string region = w.region(taken, [&](const HloValues& values) { return HloValues{combined(values)[i]}; });
    results.push_back(w.ops("map", pairs, {call.shapes[i]},
                            "dimensions = " + array_attribute(counted(call.shape().rank())), {region})[0]);
  }
  return results;
}

}  // namespace alate::exchange
