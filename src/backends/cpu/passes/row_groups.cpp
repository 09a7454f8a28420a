#include "backends/cpu/passes/row_groups.h"

#include <algorithm>
#include <optional>

#include "backends/cpu/steps/row_operands.h"

namespace alate::cpu {
namespace {

bool names(const Shape& shape, Dim dim) { return std::ranges::find(shape.dims, dim) != shape.dims.end(); }

bool has_rows(const Shape& shape, Dim dim) { return !shape.dims.empty() && shape.dims[0] == dim; }

// Whether `dim` is the extent of only the first axis, and rows begin at whole bytes.
bool is_of_rows(const Shape& shape, Dim dim) {
  return has_rows(shape, dim) && bits_of(shape.dtype) >= 8 && std::ranges::count(shape.dims, dim) == 1;
}

// The dim of the rows that a step processes independently, if it does.
std::optional<Dim> step_rows(const Plan& plan, const Step& step) {
  const std::uint32_t mask = row_operands(step);
  if (mask == 0 || step.outputs.empty() || !step.regions.empty() || step.inputs.size() > 32) return std::nullopt;
  const Shape& result = plan.slots[step.output()].shape;
  if (result.dims.empty() || result.dims[0].is_number()) return std::nullopt;
  const Dim dim = result.dims[0];
  const auto has_its_rows = [&](SlotId id) { return is_of_rows(plan.slots[id].shape, dim); };
  if (!std::ranges::all_of(step.outputs, has_its_rows)) return std::nullopt;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    const Shape& shape = plan.slots[step.inputs[i]].shape;
    if ((mask >> i & 1) != 0 ? !is_of_rows(shape, dim) : names(shape, dim)) return std::nullopt;
  }
  return dim;
}

// First and last steps that access each slot, directly or by a view.
struct Touches {
  std::vector<std::size_t> first, last;
  explicit Touches(const Plan& plan) : first(plan.slots.size(), SIZE_MAX), last(plan.slots.size(), 0) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      for (const auto* slots : {&plan.steps[i].inputs, &plan.steps[i].outputs}) {
        for (const SlotId id : *slots) {
          const SlotId base = base_of(plan, id);
          first[base] = std::min(first[base], i);
          last[base] = std::max(last[base], i);
        }
      }
    }
  }
};

void add_once(std::vector<SlotId>& slots, SlotId id) {
  if (std::ranges::find(slots, id) == slots.end()) slots.push_back(id);
}

// Fills in the slots of a group.
void list_slots(const Plan& plan, const Touches& touches, RowGroup& group) {
  for (std::size_t i = group.first; i < group.end; ++i) {
    const Step& step = plan.steps[i];
    const std::uint32_t mask = row_operands(step);
    const auto take = [&](SlotId id) {
      const SlotId base = base_of(plan, id);
      const bool is_inner = plan.slots[base].kind == SlotKind::arena && touches.first[base] >= group.first &&
                            touches.last[base] < group.end && is_of_rows(plan.slots[base].shape, group.dim);
      if (!is_inner) {
        add_once(group.outer, id);
      } else {
        add_once(group.inner, base);
        if (id != base) add_once(group.inner_views, id);
      }
    };
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      if ((mask >> k & 1) != 0) take(step.inputs[k]);
    }
    for (const SlotId output : step.outputs) take(output);
  }
  for (const SlotId id : group.inner) group.inner_steps.emplace_back(touches.first[id], touches.last[id]);
}

}  // namespace

std::vector<RowGroup> find_row_groups(const Plan& plan) {
  std::vector<RowGroup> groups;
  const Touches touches(plan);
  for (std::size_t i = 0; i < plan.steps.size();) {
    const std::optional<Dim> dim = step_rows(plan, plan.steps[i]);
    if (!dim) {
      ++i;
      continue;
    }
    RowGroup group{.first = i, .end = i, .dim = *dim};
    std::vector<SlotId> written, read_whole;
    const auto contains = [&](const std::vector<SlotId>& slots, SlotId id) {
      return std::ranges::find(slots, memory_of(plan, id)) != slots.end();
    };
    // Other threads may be at any other step of the group.
    const auto fits = [&](const Step& step) {
      const std::uint32_t mask = row_operands(step);
      for (std::size_t k = 0; k < step.inputs.size(); ++k) {
        if ((mask >> k & 1) == 0 && contains(written, step.inputs[k])) return false;
      }
      return std::ranges::none_of(step.outputs, [&](SlotId output) { return contains(read_whole, output); });
    };
    for (; group.end < plan.steps.size(); ++group.end) {
      const Step& step = plan.steps[group.end];
      if (step_rows(plan, step) != dim || !fits(step)) break;
      const std::uint32_t mask = row_operands(step);
      for (std::size_t k = 0; k < step.inputs.size(); ++k) {
        if ((mask >> k & 1) == 0) read_whole.push_back(memory_of(plan, step.inputs[k]));
      }
      for (const SlotId output : step.outputs) written.push_back(memory_of(plan, output));
    }
    i = group.end;
    if (group.end - group.first < 2) continue;
    list_slots(plan, touches, group);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace alate::cpu
