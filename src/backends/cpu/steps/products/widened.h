// A step's operands and result as f32, for kernels without half-precision types: halves go through the step's scratch.
#pragma once

#include "backends/cpu/kernels/vectors/scratch.h"
#include "backends/cpu/steps/products/halves.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {

/// Whether the step stores its result of f32 rounded to bf16, see round_results.h.
inline bool is_rounded_result(const Step& step, const Binding& binding) {
  return binding.slots[step.output()].format.kind == kBf16Rows;
}

/// Whether every reader of attention's result rounds it to 8 bits or bf16, so that its products may be bf16 too.
inline bool may_multiply_bf16(const Step& step, const Binding& binding) {
  return step.epilogue.is_quantized_next || is_rounded_result(step, binding);
}

/// Scratch of a step that widens all its half-precision values.
inline std::size_t widened_step_bytes(const Step& step, const Binding& binding) {
  std::size_t bytes = 0;
  const auto add = [&](SlotId slot) {
    const Shape& shape = binding.shapes[slot];
    if (is_half(shape.dtype)) bytes += widened_bytes(count_of(shape));
  };
  for (const SlotId input : step.inputs) add(input);
  add(step.output());
  return bytes;
}

class WidenedValues {
 public:
  WidenedValues(const Step& step, const Frame& frame) : step_(step), frame_(frame), next_(frame.scratch) {}

  /// An operand as f32. Call once per operand.
  const float* in(std::size_t operand) {
    const SlotId slot = step_.inputs[operand];
    const Shape& shape = frame_.shape(slot);
    if (!is_half(shape.dtype)) return frame_.in<float>(slot);
    float* widened = take(shape);
    convert_values(frame_, shape.dtype, frame_.in<std::byte>(slot), DType::f32, widened, count_of(shape));
    return widened;
  }
  /// Where to write the result; `finish` then rounds it.
  float* out() {
    const Shape& shape = frame_.shape(step_.output());
    result_ = is_half(shape.dtype) ? take(shape) : frame_.out<float>(step_.output());
    return result_;
  }
  void finish() const {
    const Shape& shape = frame_.shape(step_.output());
    if (!is_half(shape.dtype)) return;
    convert_values(frame_, DType::f32, result_, shape.dtype, frame_.out<std::byte>(step_.output()), count_of(shape));
  }

 private:
  float* take(const Shape& shape) {
    auto* taken = reinterpret_cast<float*>(next_);
    next_ += widened_bytes(count_of(shape));
    return taken;
  }

  const Step& step_;
  const Frame& frame_;
  std::byte* next_;
  float* result_ = nullptr;
};

}  // namespace alate::cpu
