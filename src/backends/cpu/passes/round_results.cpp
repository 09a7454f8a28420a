#include "backends/cpu/passes/round_results.h"

#include <algorithm>
#include <optional>

#include "backends/cpu/kernels/gemm/half_product.h"
#include "backends/cpu/steps/operations.h"
#include "backends/cpu/steps/products/dense_arguments.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {
namespace {

// The steps that access a slot, directly or by a view.
struct Uses {
  std::optional<std::size_t> writer;  // a step that may round its result, if it is the only writer
  std::vector<std::size_t> products;  // that read it as activations
  bool has_other_writers = false, has_other_readers = false;
};

// Whether rows of the slot consist of whole words of two numbers.
bool has_rows_of_words(const Shape& shape) {
  return shape.dtype == DType::f32 && shape.rank() > 1 && shape.dims.back().is_number() &&
         shape.dims.back().number() % 2 == 0;
}

// Whether the slot is no view, or a view of its whole base, in rows of any length.
bool is_whole(const Slot& slot) {
  return slot.kind != SlotKind::view || (slot.offset == 0 && slot.row_stride == 0 && slot.column_block == 0);
}

bool multiplies_bf16(const Plan& plan, const Step& step) {
  return step.operation->run == run_half_dense && plan.slots[weight_slot(step)].shape.dtype == DType::bf16;
}

bool multiplies_rounded(const Plan& plan, const Step& step, std::size_t operand) {
  const SlotId id = step.inputs[operand];
  return multiplies_bf16(plan, step) && operand == 0 && std::ranges::count(step.inputs, id) == 1 &&
         is_whole(plan.slots[id]) && has_rows_of_words(plan.slots[id].shape);
}

// Products of other words only read floats.
bool may_round(const Plan& plan, const Step& step) {
  const SlotId result = step.output();
  return step.operation->rounds_result && step.outputs.size() == 1 && plan.slots[result].kind != SlotKind::view &&
         plan.slots[result].column_block == 0 && (step.operation->run != run_half_dense || multiplies_bf16(plan, step));
}

std::vector<Uses> uses_of_slots(const Plan& plan) {
  std::vector<Uses> uses(plan.slots.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      Uses& use = uses[base_of(plan, step.inputs[k])];
      if (multiplies_rounded(plan, step, k))
        use.products.push_back(i);
      else
        use.has_other_readers = true;
    }
    for (const SlotId id : step.outputs) {
      Uses& use = uses[base_of(plan, id)];
      if (may_round(plan, step) && !use.writer)
        use.writer = i;
      else
        use.has_other_writers = true;
    }
  }
  return uses;
}

bool is_norm(const Step& step) {
  return step.operation->op == graph::Op::layer_norm || step.operation->op == graph::Op::rms_norm;
}

// Adds a bf16 copy of the value, which the products then read.
void add_rounded(Plan& plan, SlotId base, const Uses& uses) {
  const auto rounded_copy = [&plan](SlotId id) {
    Slot slot{.kind = SlotKind::arena, .shape = plan.slots[id].shape};
    slot.shape.dtype = DType::bf16;
    plan.slots.push_back(std::move(slot));
    return static_cast<SlotId>(plan.slots.size() - 1);
  };
  const SlotId rounded = rounded_copy(base);
  plan.steps[*uses.writer].outputs.push_back(rounded);
  for (const std::size_t product : uses.products) {
    SlotId& read = plan.steps[product].inputs[0];
    if (read == base) {
      read = rounded;
      continue;
    }
    read = rounded_copy(read);
    plan.slots[read].kind = SlotKind::view;
    plan.slots[read].base = rounded;
  }
}

}  // namespace

void round_results(Plan& plan) {
  // The kernel is chosen by a measurement once per process, which models without such products skip.
  const bool has_products =
      std::ranges::any_of(plan.steps, [&](const Step& step) { return multiplies_bf16(plan, step); });
  if (!has_products || half_product_kernel(DType::bf16).kind != WordKind::bf16) return;
  const std::vector<Uses> uses = uses_of_slots(plan);
  for (SlotId id = 0; id < uses.size(); ++id) {
    const Uses& use = uses[id];
    if (use.products.empty() || !use.writer || use.has_other_writers || plan.slots[id].shape.dtype != DType::f32)
      continue;
    if (plan.slots[id].kind != SlotKind::arena || use.has_other_readers) {
      const bool may_be_twice = plan.slots[id].kind == SlotKind::arena || plan.slots[id].kind == SlotKind::output;
      if (may_be_twice && is_norm(plan.steps[*use.writer])) add_rounded(plan, id, use);
      continue;
    }
    for (SlotId view = 0; view < uses.size(); ++view) {
      if (base_of(plan, view) == id) plan.slots[view].shape.dtype = DType::bf16;
    }
  }
}

}  // namespace alate::cpu
