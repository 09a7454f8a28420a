#include "backends/cpu/run/binding.h"

#include <algorithm>

#include "backends/cpu/run/arena_layout.h"
#include "backends/cpu/run/row_blocks.h"

namespace alate::cpu {
namespace {

// Every column block has all rows of the slot.
std::vector<std::size_t> block_strides(const Plan& plan, const std::vector<Shape>& shapes) {
  std::vector<std::size_t> strides(plan.slots.size(), 0);
  for (SlotId id = 0; id < plan.slots.size(); ++id) {
    if (const std::int64_t block = plan.slots[id].format.column_block(); block != 0)
      strides[id] = static_cast<std::size_t>(shapes[id].dims[0].number() * block);
  }
  return strides;
}

}  // namespace

Binding bind_plan(const Plan& plan, const graph::DimValues& values, std::size_t workers) {
  Binding binding;
  binding.slots = plan.slots;
  binding.dims = values;
  binding.shapes.reserve(plan.slots.size());
  for (const Slot& slot : plan.slots) binding.shapes.push_back(values(slot.shape));
  for (const backends::Port& port : plan.outputs) binding.outputs.push_back(values(port.shape));
  binding.offsets.assign(plan.slots.size(), 0);
  binding.step_scratch.assign(plan.steps.size(), 0);
  binding.regions.resize(plan.steps.size());
  binding.block_strides = block_strides(plan, binding.shapes);
  bind_row_groups(plan, workers, binding);

  std::vector<std::size_t> first(plan.slots.size(), SIZE_MAX), last(plan.slots.size(), 0);
  const auto touch = [&](SlotId id, std::size_t first_step, std::size_t last_step) {
    const SlotId base = base_of(plan, id);
    first[base] = std::min(first[base], first_step);
    last[base] = std::max(last[base], last_step);
  };
  std::vector<ArenaInterval> intervals;
  auto blocks = binding.row_blocks.begin();
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    for (const auto& region : step.regions) binding.regions[i].push_back(bind_plan(*region, values));
    while (blocks != binding.row_blocks.end() && blocks->group->end <= i) ++blocks;
    const bool in_blocks = blocks != binding.row_blocks.end() && blocks->group->first <= i;
    // One thread may be at the first step of a group while another is at the last.
    const std::size_t from = in_blocks ? blocks->group->first : i, to = in_blocks ? blocks->group->end - 1 : i;
    for (const SlotId in : step.inputs) touch(in, from, to);
    for (const SlotId out : step.outputs) touch(out, from, to);
    if (in_blocks) continue;
    const std::size_t scratch = step.operation->scratch != nullptr ? step.operation->scratch(step, binding, i) : 0;
    if (scratch > 0) intervals.push_back({arena_aligned(scratch), i, i, &binding.step_scratch[i]});
  }
  for (RowBlocks& group : binding.row_blocks) {
    for (const SlotId inner : group.group->inner) first[inner] = SIZE_MAX;
    intervals.push_back({arena_aligned(group.part_bytes, std::min(workers, group.blocks)), group.group->first,
                         group.group->end - 1, &group.offset});
  }
  for (SlotId id = 0; id < plan.slots.size(); ++id) {
    const std::size_t bytes = plan.slots[id].format.bytes(binding.shapes[id]);
    if (plan.slots[id].kind == SlotKind::arena && first[id] != SIZE_MAX && bytes > 0)
      intervals.push_back({arena_aligned(bytes), first[id], last[id], &binding.offsets[id]});
  }
  binding.arena_bytes = lay_out(intervals);
  return binding;
}

}  // namespace alate::cpu
