#include "backends/cpu/passes/sum_results.h"

#include <algorithm>

#include "backends/cpu/kernels/vectors/row_sums.h"
#include "backends/cpu/passes/slot_uses.h"

namespace alate::cpu {
namespace {

// The step itself, or the part of a joined step, that is a layer norm.
Step* layer_norm_in(Step& step) {
  const auto is_layer_norm = [](const Step& part) { return part.operation->norm == NormKind::layer; };
  if (step.parts.empty()) return is_layer_norm(step) ? &step : nullptr;
  const auto part = std::ranges::find_if(step.parts, is_layer_norm);
  return part == step.parts.end() ? nullptr : &*part;
}

// The product within a step that can sum the rows of its result while it computes them.
Step* summing_product(Step& step) {
  if (step.operation->kernel == nullptr) return nullptr;
  Step& product = step.parts.empty() ? step : step.parts.back();
  return product.epilogue.activation == graph::Activation::none ? &product : nullptr;
}

bool may_have_sums(const Slot& slot) {
  return (slot.kind == SlotKind::arena || slot.kind == SlotKind::output) && slot.format.is_row_major() &&
         slot.shape.dtype == DType::f32 && slot.shape.rank() > 1;
}

SlotId add_sums(Plan& plan, SlotId rows) {
  Slot slot{.kind = SlotKind::arena, .shape = plan.slots[rows].shape};
  slot.shape.dims.back() = Dim(static_cast<std::int64_t>(kSumLanes));
  plan.slots.push_back(std::move(slot));
  return static_cast<SlotId>(plan.slots.size() - 1);
}

void add_to(Step& whole, Step& part, std::vector<SlotId> Step::*slots, SlotId id) {
  (part.*slots).push_back(id);
  if (&part != &whole) (whole.*slots).push_back(id);
}

}  // namespace

void sum_results(Plan& plan) {
  const std::vector<SlotUses> uses = slot_uses(plan);
  for (Step& reader : plan.steps) {
    Step* norm = layer_norm_in(reader);
    if (norm == nullptr) continue;
    const SlotId rows = norm->inputs[0];
    if (!may_have_sums(plan.slots[rows]) || uses[rows].writers.size() != 1) continue;
    Step& writer = plan.steps[uses[rows].writers.front()];
    Step* product = writer.output() == rows ? summing_product(writer) : nullptr;
    if (product == nullptr) continue;
    std::optional<std::size_t>& sums = product->epilogue.row_sums;
    if (!sums) {
      sums = product->outputs.size();
      add_to(writer, *product, &Step::outputs, add_sums(plan, rows));
    }
    add_to(reader, *norm, &Step::inputs, product->outputs[*sums]);
  }
}

}  // namespace alate::cpu
