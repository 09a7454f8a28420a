#include "backends/cpu/steps/carriers.h"

#include "backends/cpu/steps/layout.h"
#include "tensor/packed.h"

namespace alate::cpu {
namespace {

bool has_packed(const Step& step, const std::vector<Shape>& shapes) {
  const auto is_packed = [&](SlotId slot) { return tensor::is_packed(shapes[slot].dtype); };
  return std::any_of(step.inputs.begin(), step.inputs.end(), is_packed) ||
         std::any_of(step.outputs.begin(), step.outputs.end(), is_packed);
}

// The step with its own slots: its inputs, then its outputs.
struct Carried {
  Step step;
  std::vector<Slot> slots;
  Binding binding;
  std::vector<SlotId> from;  // the corresponding slots of the plan

  Carried(const Step& plans, const Binding& bound, std::size_t index) : step(plans) {
    const auto add = [&](SlotId& slot) {
      from.push_back(slot);
      slots.push_back({.shape = bound.shapes[slot]});
      binding.shapes.push_back(bound.shapes[slot]);
      binding.shapes.back().dtype = tensor::carrier_of(bound.shapes[slot].dtype);
      slot = static_cast<SlotId>(slots.size() - 1);
    };
    for (SlotId& input : step.inputs) add(input);
    for (SlotId& output : step.outputs) add(output);
    binding.slots = slots;
    if (index < bound.regions.size()) binding.regions.push_back(bound.regions[index]);
    binding.dims = bound.dims;
  }
  bool is_packed(std::size_t slot) const { return tensor::is_packed(slots[slot].shape.dtype); }
};

}  // namespace

std::size_t carriers_scratch(const Step& step, const Binding& binding, std::size_t index, StepScratch scratch) {
  if (!has_packed(step, binding.shapes)) return scratch != nullptr ? scratch(step, binding, index) : 0;
  const Carried carried(step, binding, index);
  std::size_t bytes = scratch != nullptr ? scratch(carried.step, carried.binding, 0) : 0;
  for (std::size_t i = 0; i < carried.slots.size(); ++i) {
    if (carried.is_packed(i)) bytes += scratch_aligned(count_of(carried.binding.shapes[i]));
  }
  return bytes;
}

void run_on_carriers(const Step& step, const Frame& frame, RunStep run, StepScratch /*scratch*/) {
  if (!has_packed(step, frame.binding.shapes)) return run(step, frame);
  const Carried carried(step, frame.binding, frame.step);
  std::vector<std::byte*> pointers;
  std::byte* free = frame.scratch;
  for (std::size_t i = 0; i < carried.slots.size(); ++i) {
    std::byte* const bytes = frame.pointers[carried.from[i]];
    if (!carried.is_packed(i)) {
      pointers.push_back(bytes);
      continue;
    }
    const Shape& shape = carried.slots[i].shape;
    const std::size_t count = count_of(shape);
    if (i < step.inputs.size()) tensor::unpack(shape.dtype, {bytes, shape.byte_count()}, {free, count});
    pointers.push_back(free);
    free += scratch_aligned(count);
  }
  Frame inner{carried.binding, pointers, frame.pool, frame.max_workers, frame.options};
  inner.scratch = free;
  run(carried.step, inner);
  for (std::size_t i = step.inputs.size(); i < carried.slots.size(); ++i) {
    if (!carried.is_packed(i)) continue;
    const Shape& shape = carried.slots[i].shape;
    tensor::pack(shape.dtype, {pointers[i], count_of(shape)}, {frame.pointers[carried.from[i]], shape.byte_count()});
  }
}

}  // namespace alate::cpu
