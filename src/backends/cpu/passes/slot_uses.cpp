#include "backends/cpu/passes/slot_uses.h"

namespace alate::cpu {

std::vector<SlotUses> slot_uses(const Plan& plan) {
  std::vector<SlotUses> uses(plan.slots.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    for (std::size_t k = 0; k < step.inputs.size(); ++k) uses[base_of(plan, step.inputs[k])].readers.push_back({i, k});
    for (const SlotId id : step.outputs) uses[base_of(plan, id)].writers.push_back(i);
  }
  return uses;
}

Step* writer_as(Plan& plan, const std::vector<SlotUses>& uses, SlotId id, Format format) {
  if (uses[id].writers.size() != 1 || !plan.slots[id].format.is_row_major()) return nullptr;
  Step& writer = plan.steps[uses[id].writers.front()];
  return writer.output() == id && writer.operation->writes_as(format) ? &writer : nullptr;
}

}  // namespace alate::cpu
