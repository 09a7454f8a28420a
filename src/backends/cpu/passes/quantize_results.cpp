#include "backends/cpu/passes/quantize_results.h"

#include <algorithm>
#include <optional>
#include <span>

#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/gemm/half_product.h"
#include "backends/cpu/steps/operations.h"
#include "backends/cpu/steps/products/dense_arguments.h"
#include "backends/cpu/steps/products/integer_rows.h"
#include "backends/cpu/steps/steps.h"
#include "graph/operands.h"

namespace alate::cpu {
namespace {

// The kernel of a step that can quantize its result.
const GemmKernel* product_kernel(const Plan& plan, const Step& step) {
  if (step.operation->run == run_integer_product || step.operation->run == run_norm_integer_product)
    return &kernels().integers;
  if (step.operation->run == run_dense && plan.slots[step.inputs[0]].shape.dtype == DType::f32) return &f32_gemm();
  if (step.operation->run == run_half_dense) return &half_product_kernel(plan.slots[weight_slot(step)].shape.dtype);
  return nullptr;
}

// Whether an integer product reads the slot, directly or by a view, as its activations and as nothing else.
bool rounds_activations(const Plan& plan, const Step& product, SlotId id) {
  return product.operation->run == run_integer_product && base_of(plan, product.inputs[0]) == id &&
         std::ranges::count_if(product.inputs, [&](SlotId input) { return base_of(plan, input) == id; }) == 1;
}

// How an integer product needs the slot quantized, if it reads all of it as its activations and as nothing else.
std::optional<ResultIntegers> wanted_integers(const Plan& plan, const Step& step, SlotId id) {
  if (!rounds_activations(plan, step, id) || step.inputs[0] != id) return std::nullopt;
  const auto& dense = std::get<graph::QuantizedDense>(step.attributes);
  ResultIntegers wanted{.groups = static_cast<std::size_t>(dense.activation_groups),
                        .rotation = static_cast<std::size_t>(dense.rotation)};
  const auto smoothing = graph::places_of<graph::QuantizedDenseOperands>(dense).smoothing;
  if (!smoothing) return wanted;
  wanted.smoothing = step.inputs[*smoothing];
  if (plan.slots[*wanted.smoothing].kind != SlotKind::constant) return std::nullopt;
  return wanted;
}

// The steps that access a slot, directly or by a view.
struct Uses {
  std::vector<std::size_t> readers, writers;
};

std::vector<Uses> uses_of_slots(const Plan& plan) {
  std::vector<Uses> uses(plan.slots.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    for (const SlotId id : plan.steps[i].inputs) uses[base_of(plan, id)].readers.push_back(i);
    for (const SlotId id : plan.steps[i].outputs) uses[base_of(plan, id)].writers.push_back(i);
  }
  return uses;
}

void mark_attention(Plan& plan, std::span<const Uses> uses) {
  for (Step& step : plan.steps) {
    if (step.operation->op != graph::Op::ragged_attention) continue;
    const SlotId id = step.output();
    const std::vector<std::size_t>& readers = uses[id].readers;
    step.feeds_quantized = plan.slots[id].kind == SlotKind::arena && !readers.empty() &&
                           std::ranges::all_of(readers, [&](std::size_t reader) {
                             return rounds_activations(plan, plan.steps[reader], id);
                           });
  }
}

bool may_be_integer_rows(const Slot& slot) {
  return slot.kind == SlotKind::arena && slot.column_block == 0 && slot.shape.dtype == DType::f32 &&
         slot.shape.rank() > 1 && slot.shape.dims.back().is_number();
}

}  // namespace

void quantize_results(Plan& plan) {
  const std::vector<Uses> uses = uses_of_slots(plan);
  mark_attention(plan, uses);
  for (SlotId id = 0; id < uses.size(); ++id) {
    Slot& slot = plan.slots[id];
    if (!may_be_integer_rows(slot) || uses[id].readers.size() != 1 || uses[id].writers.size() != 1) continue;
    Step& writer = plan.steps[uses[id].writers.front()];
    const GemmKernel* kernel = writer.output() == id ? product_kernel(plan, writer) : nullptr;
    if (kernel == nullptr) continue;
    const std::optional<ResultIntegers> wanted = wanted_integers(plan, plan.steps[uses[id].readers.front()], id);
    const auto width = static_cast<std::size_t>(slot.shape.dims.back().number());
    if (!wanted || !can_quantize_output(width, wanted->groups, *kernel)) continue;
    slot.shape.dtype = kIntegerRowsType;
    slot.shape.dims.back() = Dim(static_cast<std::int64_t>(IntegerRows{width, wanted->groups}.stride()));
    writer.integers = wanted;
    if (!writer.parts.empty()) writer.parts.back().integers = wanted;
  }
}

}  // namespace alate::cpu
