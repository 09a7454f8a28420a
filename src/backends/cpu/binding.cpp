#include <algorithm>

#include "alate/error.h"
#include "backends/cpu/kernels/scratch.h"
#include "backends/cpu/plan.h"

namespace alate::cpu {
namespace {

std::size_t aligned(std::size_t bytes) {
  if (bytes > SIZE_MAX / 2)
    throw Error(ErrorCode::resource_exhausted, "a value of this size does not fit in memory: use smaller inputs");
  return scratch_aligned(bytes);
}

/// Bytes that are needed from step `first` to step `last`.
struct Interval {
  std::size_t bytes, first, last;
  std::size_t* offset;
};

// Largest first, each at the lowest offset that overlaps no other of its time: Pisarchyk and Lee, arXiv:2001.03288,
// greedy by size.
std::size_t lay_out(std::vector<Interval>& intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.bytes > b.bytes; });
  std::vector<const Interval*> placed;  // by offset
  std::size_t total = 0;
  for (const Interval& interval : intervals) {
    std::size_t offset = 0;
    for (const Interval* other : placed) {
      const bool same_time = interval.first <= other->last && other->first <= interval.last;
      if (!same_time) continue;
      if (offset + interval.bytes <= *other->offset) break;
      offset = std::max(offset, *other->offset + other->bytes);
    }
    *interval.offset = offset;
    total = std::max(total, offset + interval.bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [](std::size_t at, const Interval* other) { return at < *other->offset; }),
                  &interval);
  }
  return total;
}

}  // namespace

Binding bind_plan(const Plan& plan, const graph::DimValues& values) {
  Binding binding;
  binding.dims = values;
  binding.shapes.reserve(plan.slots.size());
  for (const Slot& slot : plan.slots) binding.shapes.push_back(values(slot.shape));
  for (const backends::Port& port : plan.outputs) binding.outputs.push_back(values(port.shape));
  binding.offsets.assign(plan.slots.size(), 0);
  binding.step_scratch.assign(plan.steps.size(), 0);
  binding.regions.resize(plan.steps.size());

  std::vector<std::size_t> first(plan.slots.size(), SIZE_MAX), last(plan.slots.size(), 0);
  const auto touch = [&](SlotId id, std::size_t step) {
    const SlotId base = plan.slots[id].kind == SlotKind::view ? plan.slots[id].base : id;
    first[base] = std::min(first[base], step);
    last[base] = std::max(last[base], step);
  };
  std::vector<Interval> intervals;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    for (const SlotId in : step.inputs) touch(in, i);
    for (const SlotId out : step.outputs) touch(out, i);
    for (const auto& region : step.regions) binding.regions[i].push_back(bind_plan(*region, values));
    const std::size_t scratch = step.operation->scratch != nullptr ? step.operation->scratch(step, binding, i) : 0;
    if (scratch > 0) intervals.push_back({aligned(scratch), i, i, &binding.step_scratch[i]});
  }
  for (SlotId id = 0; id < plan.slots.size(); ++id) {
    const std::size_t bytes = binding.shapes[id].byte_count();
    if (plan.slots[id].kind == SlotKind::arena && first[id] != SIZE_MAX && bytes > 0)
      intervals.push_back({aligned(bytes), first[id], last[id], &binding.offsets[id]});
  }
  binding.arena_bytes = lay_out(intervals);
  return binding;
}

}  // namespace alate::cpu
