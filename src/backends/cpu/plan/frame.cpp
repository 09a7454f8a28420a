#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

const Shape& Frame::shape(SlotId slot) const { return binding.shapes[slot]; }

std::size_t Frame::row_stride(SlotId slot) const {
  if (slots[slot].row_stride != 0) return static_cast<std::size_t>(slots[slot].row_stride);
  std::size_t stride = 1;
  for (std::size_t i = 1; i < binding.shapes[slot].rank(); ++i)
    stride *= static_cast<std::size_t>(binding.shapes[slot].dims[i].number());
  return stride;
}

std::size_t Frame::block_stride(SlotId slot) const { return binding.block_strides[slot]; }

}  // namespace alate::cpu
