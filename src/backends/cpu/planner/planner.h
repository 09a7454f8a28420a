// Builds a plan from a graph, node by node.
#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "alate/tensor.h"
#include "backends/cpu/plan/plan.h"
#include "backends/cpu/steps/tiles/tile_program.h"
#include "backends/weight_store.h"
#include "graph/constant.h"

namespace alate::cpu {

/// The weights that a plan and those of its regions read: each once, however many steps share it.
class CountedWeights {
 public:
  /// Whether this constant has not been added in this layout before.
  bool add(const graph::ConstantPtr& constant, const backends::WeightLayout& layout = {}) {
    return counted_.emplace(constant->identity, layout).second;
  }

 private:
  std::set<std::pair<Fingerprint, backends::WeightLayout>> counted_;
};

/// The graph's plan after all passes, as make_plan and, without weights, make_plan_for_sizes give it; also that of a
/// region.
Plan plan_of(const graph::Graph& graph, backends::WeightStore* weights, CountedWeights& counted);

class Planner {
 public:
  /// Without weights, the plan is only good for sizes.
  Planner(const graph::Graph& graph, backends::WeightStore* weights, CountedWeights& counted);
  Plan run();

 private:
  // Values and their slots. Chains, and broadcasts that only chains read, get slots when a reader asks for them.
  void place(graph::NodeId id);
  SlotId slot_of(graph::Value value);
  SlotId operand(const graph::Node& node, std::size_t place) { return slot_of(node.operands[place]); }
  SlotId add_slot(Slot slot);
  SlotId add_arena_slot(Shape shape) { return add_slot({.kind = SlotKind::arena, .shape = std::move(shape)}); }
  Tensor value_of(const graph::ConstantPtr& constant);
  void add_owned(const graph::ConstantPtr& constant, const backends::WeightLayout& layout, std::size_t bytes);
  /// A constant's value in the operation's layout; without weights, it is only counted.
  Tensor packed_value(const Operation& operation, const PackedOperand& operand, SlotId from,
                      const graph::Attributes& attributes);
  Slot& slot(SlotId id) { return plan_.slots[id]; }
  /// A slot with bytes: a constant that is read unpacked gets its value here.
  SlotId readable(SlotId id);
  SlotId dense(SlotId id);

  // Views.
  SlotId view_of(SlotId from, Shape shape, std::int64_t offset, SlotFormat format);
  SlotId same_bytes(const graph::Node& node, std::size_t result);
  std::optional<SlotId> column_view(const graph::Node& node);

  // Steps.
  SlotId copy(SlotId from, Slot to);
  std::vector<SlotId> add_step(const graph::Node& node, const Operation& operation);
  void add_check(const graph::Node& node, const Operation& operation);
  void place_output(std::size_t index);

  // Chains of element-wise ops, in plan_chains.cpp.
  struct Chain;
  void find_chains();
  std::optional<TileInput> broadcast_input(const graph::Node& node) const;
  SlotId add_chain(graph::NodeId id, const Operation& operation);
  std::uint16_t chain_node(Chain& chain, graph::NodeId id);
  std::uint16_t chain_operand(Chain& chain, graph::Value value, const graph::Dims& dims);

  const graph::Graph& graph_;
  backends::WeightStore* weights_;
  CountedWeights& counted_;
  const std::vector<std::uint32_t> uses_;  // of each node's results
  Plan plan_;
  std::vector<std::vector<SlotId>> slots_of_;                 // of each node's results; empty until placed
  std::vector<std::optional<TileInstruction>> instructions_;  // of nodes that can be part of a chain
  std::vector<bool> joins_;                                   // whether a node is computed within its reader's chain
};

}  // namespace alate::cpu
