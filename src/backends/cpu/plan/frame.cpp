#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

const Slot& Frame::slot(SlotId slot) const { return binding.slots[slot]; }

const Shape& Frame::shape(SlotId slot) const { return binding.shapes[slot]; }

std::size_t Frame::row_stride(SlotId slot) const {
  return binding.slots[slot].format.row_elements(binding.shapes[slot]);
}

std::size_t Frame::block_stride(SlotId slot) const { return binding.block_strides[slot]; }

}  // namespace alate::cpu
