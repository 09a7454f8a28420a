#include "backends/cpu/passes/join_norms.h"

#include <algorithm>
#include <optional>

#include "backends/cpu/steps/operations.h"

namespace alate::cpu {
namespace {

bool is_norm_of_f32(const Plan& plan, const Step& step) {
  const std::optional<NormKind> norm = step.operation->norm;
  return (norm == NormKind::layer || norm == NormKind::rms) &&
         std::ranges::all_of(step.inputs, [&](SlotId id) { return plan.slots[id].shape.dtype == DType::f32; });
}

// Whether the step is a product of quantized rows that reads `rows` as those, and as nothing else.
bool multiplies_integers_of(const Step& step, SlotId rows) {
  if (step.operation->kernel == nullptr || std::ranges::count(step.inputs, rows) != 1) return false;
  const auto operand = static_cast<std::size_t>(std::ranges::find(step.inputs, rows) - step.inputs.begin());
  return step.operation->reads_as(kQuantizedRows, operand, step.attributes);
}

bool touches(const Plan& plan, const std::vector<SlotId>& ids, SlotId base) {
  return std::ranges::any_of(ids, [&](SlotId id) { return base_of(plan, id) == base; });
}

// The product that a norm can be moved to: the first reader of its result, if no step before it changes an operand.
std::optional<std::size_t> product_behind(const Plan& plan, std::size_t norm) {
  const Step& step = plan.steps[norm];
  const SlotId rows = step.output();
  for (std::size_t i = norm + 1; i < plan.steps.size(); ++i) {
    const Step& next = plan.steps[i];
    if (multiplies_integers_of(next, rows)) return i;
    if (touches(plan, next.inputs, base_of(plan, rows))) return std::nullopt;
    for (const SlotId written : next.outputs) {
      const SlotId base = base_of(plan, written);
      if (base == base_of(plan, rows) || touches(plan, step.inputs, base)) return std::nullopt;
    }
  }
  return std::nullopt;
}

Step joined(Step norm, Step product) {
  Step step;
  step.operation = &norm_product_operation();
  step.inputs = norm.inputs;
  step.inputs.insert(step.inputs.end(), product.inputs.begin() + 1, product.inputs.end());
  step.outputs = product.outputs;
  step.outputs.insert(step.outputs.end(), norm.outputs.begin(), norm.outputs.end());
  step.attributes = product.attributes;
  step.source = product.source;
  step.parts.push_back(std::move(norm));
  step.parts.push_back(std::move(product));
  return step;
}

}  // namespace

void join_norms(Plan& plan) {
  std::vector<bool> is_gone(plan.steps.size(), false);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (!is_norm_of_f32(plan, plan.steps[i])) continue;
    const std::optional<std::size_t> product = product_behind(plan, i);
    if (!product) continue;
    plan.steps[*product] = joined(std::move(plan.steps[i]), std::move(plan.steps[*product]));
    is_gone[i] = true;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < is_gone.size(); ++i) {
    if (is_gone[i]) continue;
    if (kept != i) plan.steps[kept] = std::move(plan.steps[i]);
    ++kept;
  }
  plan.steps.resize(kept);
}

}  // namespace alate::cpu
