#include "backends/cpu/passes/sum_results.h"

#include <algorithm>
#include <optional>

#include "backends/cpu/kernels/vectors/row_sums.h"
#include "backends/cpu/steps/operations.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {
namespace {

// The step itself, or the part of a joined step that computes `op`.
Step* part_of(Step& step, graph::Op op) {
  const auto has_op = [&](const Step& part) { return part.operation->op == op; };
  if (step.parts.empty()) return has_op(step) ? &step : nullptr;
  const auto part = std::ranges::find_if(step.parts, has_op);
  return part == step.parts.end() ? nullptr : &*part;
}

bool has_no_activation(const Step& product) {
  if (const auto* dense = std::get_if<graph::Dense>(&product.attributes))
    return dense->activation == graph::Activation::none;
  return std::get<graph::QuantizedDense>(product.attributes).activation == graph::Activation::none;
}

// The product within a step that can sum the rows of its result while it computes them.
Step* summing_product(const Plan& plan, Step& step) {
  const auto run = step.operation->run;
  if (run == run_dense || run == run_half_dense || run == run_integer_product)
    return has_no_activation(step) && plan.slots[step.inputs[0]].shape.dtype != DType::f64 ? &step : nullptr;
  if (run != run_norm_integer_product) return nullptr;
  return has_no_activation(step.parts.back()) ? &step.parts.back() : nullptr;
}

// For each slot, the only step that writes it, directly or by a view.
std::vector<std::optional<std::size_t>> only_writers(const Plan& plan) {
  std::vector<std::optional<std::size_t>> writers(plan.slots.size());
  std::vector<bool> has_several(plan.slots.size(), false);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    for (const SlotId id : plan.steps[i].outputs) {
      const SlotId base = base_of(plan, id);
      has_several[base] = has_several[base] || writers[base].has_value();
      writers[base] = i;
    }
  }
  for (SlotId id = 0; id < writers.size(); ++id) {
    if (has_several[id]) writers[id].reset();
  }
  return writers;
}

bool may_have_sums(const Slot& slot) {
  return (slot.kind == SlotKind::arena || slot.kind == SlotKind::output) && slot.column_block == 0 &&
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
  const std::vector<std::optional<std::size_t>> writers = only_writers(plan);
  for (Step& reader : plan.steps) {
    Step* norm = part_of(reader, graph::Op::layer_norm);
    if (norm == nullptr || norm->has_row_sums) continue;
    const SlotId rows = norm->inputs[0];
    if (!may_have_sums(plan.slots[rows]) || !writers[rows]) continue;
    Step& writer = plan.steps[*writers[rows]];
    Step* product = writer.output() == rows ? summing_product(plan, writer) : nullptr;
    if (product == nullptr) continue;
    if (product->outputs.size() == 1) add_to(writer, *product, &Step::outputs, add_sums(plan, rows));
    add_to(reader, *norm, &Step::inputs, product->outputs[1]);
    norm->has_row_sums = true;
  }
}

}  // namespace alate::cpu
