// Steps that run other plans: the regions of their op.
#include <cstring>

#include "backends/cpu/kernels/scratch.h"
#include "backends/cpu/steps/region_runner.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {
namespace {

std::vector<const std::byte*> inputs_of(const Step& step, const Frame& frame, std::size_t first) {
  std::vector<const std::byte*> inputs;
  for (std::size_t i = first; i < step.inputs.size(); ++i) inputs.push_back(frame.in<std::byte>(step.inputs[i]));
  return inputs;
}

std::vector<std::byte*> outputs_of(const Step& step, const Frame& frame) {
  std::vector<std::byte*> outputs;
  for (const SlotId output : step.outputs) outputs.push_back(frame.out<std::byte>(output));
  return outputs;
}

}  // namespace

std::size_t region_scratch(const Step& /*step*/, const Binding& binding, std::size_t index) {
  std::size_t bytes = 0;
  for (const Binding& region : binding.regions[index]) bytes = std::max(bytes, region.arena_bytes);
  return bytes;
}

// The condition's answer, a second copy of the values that the body makes from the first, and the regions' own memory.
std::size_t while_loop_scratch(const Step& step, const Binding& binding, std::size_t index) {
  std::size_t bytes = kScratchAlignment + region_scratch(step, binding, index);
  for (const SlotId output : step.outputs) bytes += scratch_aligned(binding.shapes[output].byte_count());
  return bytes;
}

void run_while_loop(const Step& step, const Frame& frame) {
  std::byte* goes_on = frame.scratch;
  std::byte* next = frame.scratch + kScratchAlignment;
  std::vector<std::byte*> values = outputs_of(step, frame), made;
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const std::size_t bytes = frame.shape(step.outputs[i]).byte_count();
    if (bytes > 0) std::memcpy(values[i], frame.in<std::byte>(step.inputs[i]), bytes);
    made.push_back(next);
    next += scratch_aligned(bytes);
  }
  RegionRunner condition(step, 0, frame, next), body(step, 1, frame, next);
  for (;;) {
    frame.check_cancelled();
    const std::vector<const std::byte*> now(values.begin(), values.end());
    condition.run(now, {&goes_on, 1});
    if (*goes_on == std::byte{0}) break;
    body.run(now, made);
    values.swap(made);
  }
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    std::byte* out = frame.out<std::byte>(step.outputs[i]);
    if (out != values[i]) std::memcpy(out, values[i], frame.shape(step.outputs[i]).byte_count());
  }
}

void run_if_else(const Step& step, const Frame& frame) {
  const bool holds = *frame.in<std::uint8_t>(step.inputs[0]) != 0;
  RegionRunner(step, holds ? 0 : 1, frame, frame.scratch).run(inputs_of(step, frame, 1), outputs_of(step, frame));
}

void run_call(const Step& step, const Frame& frame) {
  RegionRunner(step, 0, frame, frame.scratch).run(inputs_of(step, frame, 0), outputs_of(step, frame));
}

}  // namespace alate::cpu
