// Ops with regions, barriers, and collectives of one device.
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

// StableHLO's branches take nothing: they read the operands themselves.
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

// The callee's nodes in place of the call.
HloValues write_call(HloWriter& w, const HloCall& call) {
  return write_nodes(w, *call.node.regions[0], call.dims, call.operands);
}

// Over no axes, each element still meets the first value: over an axis of one element, which XLA does not skip.
HloValues write_generic_reduce(HloWriter& w, const HloCall& call) {
  HloValues operands = call.operands;
  Numbers axes = call.as<graph::Axes>().axes;
  const std::size_t count = call.shapes.size(), rank = operands[0].shape.rank();
  std::vector<Shape> taken;
  for (std::size_t i = 0; i < 2 * count; ++i) taken.push_back({operands[i % count].shape.dtype, {}});
  if (axes.empty()) {
    axes = {static_cast<std::int64_t>(rank)};
    for (std::size_t i = 0; i < count; ++i) {
      Numbers extents = extents_of(operands[i].shape);
      extents.push_back(1);
      operands[i] = reshape(w, operands[i], extents);
    }
  }
  const std::string region = w.region(
      taken, [&](const HloValues& values) { return write_nodes(w, *call.node.regions[0], call.dims, values); });
  return w.ops("reduce", operands, call.shapes, "dimensions = " + array_attribute(axes), {region});
}

}  // namespace alate::exchange
