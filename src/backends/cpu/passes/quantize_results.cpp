#include "backends/cpu/passes/quantize_results.h"

#include <algorithm>

#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/passes/slot_uses.h"
#include "backends/cpu/steps/products/quantization.h"

namespace alate::cpu {
namespace {

bool is_quantized_by(const Plan& plan, const std::vector<SlotReader>& readers) {
  return !readers.empty() && std::ranges::all_of(readers, [&](const SlotReader& reader) {
    return may_read_as(plan, reader, kQuantizedRows);
  });
}

bool may_be_integer_rows(const Slot& slot) {
  return slot.kind == SlotKind::arena && slot.shape.dtype == DType::f32 && slot.shape.rank() > 1 &&
         slot.shape.dims.back().is_number();
}

// Whether the kernel can store rows of the slot so.
bool fits(const RowQuantization& wanted, const Plan& plan, const Slot& slot, const GemmKernel& kernel) {
  if (wanted.smoothing && plan.slots[*wanted.smoothing].kind != SlotKind::constant) return false;
  return can_quantize_output(static_cast<std::size_t>(slot.shape.dims.back().number()), wanted.groups, kernel);
}

}  // namespace

void quantize_results(Plan& plan) {
  const std::vector<SlotUses> uses = slot_uses(plan);
  for (Step& step : plan.steps) {
    if (step.outputs.empty()) continue;
    const SlotId id = step.output();
    step.epilogue.is_quantized_next = plan.slots[id].kind == SlotKind::arena && is_quantized_by(plan, uses[id].readers);
  }
  for (SlotId id = 0; id < uses.size(); ++id) {
    Slot& slot = plan.slots[id];
    if (!may_be_integer_rows(slot) || uses[id].readers.size() != 1 || !is_quantized_by(plan, uses[id].readers))
      continue;
    const auto [place, operand] = uses[id].readers.front();
    const Step* writer = writer_as(plan, uses, id, kQuantizedRows);
    if (writer == nullptr || plan.steps[place].inputs[operand] != id) continue;
    const RowQuantization wanted = activation_quantization(plan.steps[place]);
    if (fits(wanted, plan, slot, writer->operation->kernel())) slot.format = SlotFormat::quantized_rows(wanted);
  }
}

}  // namespace alate::cpu
