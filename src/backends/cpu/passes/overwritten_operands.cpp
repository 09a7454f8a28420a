#include "backends/cpu/passes/overwritten_operands.h"

#include <algorithm>

#include "backends/cpu/steps/operations.h"
#include "backends/cpu/steps/products/halves.h"
#include "backends/cpu/steps/tiles/tile_program.h"
#include "tensor/packed.h"

namespace alate::cpu {
namespace {

// Whether the slot is a whole base, or a view of all of it, with the result's elements at the result's places.
bool has_places_of(const Slot& slot, const Shape& result) {
  const bool is_whole = slot.offset == 0 && slot.format.is_row_major();
  return is_whole && slot.shape.dims == result.dims && bits_of(slot.shape.dtype) == bits_of(result.dtype);
}

bool reads_base(const Plan& plan, SlotId id, SlotId base) { return base_of(plan, id) == base; }

// Whether a chain reads element i of the base, and no other, for element i of the result. Its tiles are read before
// they are written.
bool reads_in_place(const Plan& plan, const Step& chain, SlotId base) {
  const Shape& result = plan.slots[chain.output()].shape;
  for (std::size_t i = 0; i < chain.inputs.size(); ++i) {
    if (!reads_base(plan, chain.inputs[i], base)) continue;
    const TileInput& access = chain.tiles->inputs[i];
    const bool is_dense = access.first_axis == 0 && access.last_axis == result.rank();
    if (!is_dense || !has_places_of(plan.slots[chain.inputs[i]], result)) return false;
  }
  return true;
}

// Whether the step leaves alone what it does not update. Packed types, and halves in arithmetic, are converted whole.
bool updates_part(const Step& step, DType dtype) {
  if (!step.operation->has(kRunsInPlace) || tensor::is_packed(dtype)) return false;
  const bool only_moves =
      step.operation->op == graph::Op::dynamic_update_slice || step.operation->op == graph::Op::scatter_set;
  return only_moves || !is_half(dtype);
}

}  // namespace

std::vector<SlotId> overwritten_operands(const Plan& plan, const Step& step) {
  std::vector<SlotId> bases;
  if (step.outputs.size() != 1 || step.inputs.empty()) return bases;
  const Shape& result = plan.slots[step.output()].shape;
  if (step.tiles) {
    for (const SlotId id : step.inputs) {
      const SlotId base = base_of(plan, id);
      const bool is_new = std::ranges::find(bases, base) == bases.end();
      if (is_new && reads_in_place(plan, step, base)) bases.push_back(base);
    }
    return bases;
  }
  const SlotId first = step.inputs.front(), base = base_of(plan, first);
  const auto reads_it = [&](SlotId id) { return reads_base(plan, id, base); };
  if (std::ranges::count_if(step.inputs, reads_it) > 1 || !has_places_of(plan.slots[first], result)) return bases;
  if (step.operation == &copy_operation() || updates_part(step, result.dtype)) bases.push_back(base);
  return bases;
}

}  // namespace alate::cpu
