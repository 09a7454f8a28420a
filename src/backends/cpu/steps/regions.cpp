// Steps that run other plans: the regions of their op.
#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cpu/steps/operations.h"
#include "backends/cpu/steps/region_runner.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {
namespace {

// Pointers to a region's operands and results, stored in the step's scratch.
struct Ports {
  std::span<std::byte*> inputs, outputs;
  std::byte* rest;  // the rest of the scratch

  Ports(std::size_t input_count, std::size_t output_count, std::byte* memory)
      : inputs(reinterpret_cast<std::byte**>(memory), input_count),
        outputs(inputs.data() + input_count, output_count),
        rest(memory + RegionRunner::pointer_bytes(input_count + output_count)) {}
};

// Runs a region over the operands from `first` on.
void run_once(const Step& step, const Frame& frame, std::size_t region, std::size_t first) {
  const Ports ports(step.inputs.size() - first, step.outputs.size(), frame.scratch);
  for (std::size_t i = 0; i < ports.inputs.size(); ++i) ports.inputs[i] = frame.pointers[step.inputs[first + i]];
  for (std::size_t i = 0; i < ports.outputs.size(); ++i) ports.outputs[i] = frame.pointers[step.outputs[i]];
  RegionRunner(step, region, frame, ports.rest).run(ports.inputs, ports.outputs);
}

bool shows_parameter(const Plan& plan, SlotId id, std::size_t index) {
  const Slot* slot = &plan.slots[id];
  if (slot->kind == SlotKind::view) slot = &plan.slots[slot->base];
  return slot->kind == SlotKind::parameter && slot->index == index;
}

std::size_t reads_of_parameter(const std::vector<Step>& steps, const Plan& plan, std::size_t index) {
  std::size_t reads = 0;
  for (const Step& step : steps) {
    reads += static_cast<std::size_t>(
        std::ranges::count_if(step.inputs, [&](SlotId id) { return shows_parameter(plan, id, index); }));
    reads += reads_of_parameter(step.parts, plan, index);
  }
  return reads;
}

// Whether a loop's body gives value `index` on as it is, or with a slice written over it by the only step that reads
// it: the value then stays at its place, where all others have two that take turns.
bool stays_in_place(const Plan& body, std::size_t index) {
  for (const Step& step : body.steps) {
    if (step.outputs.size() != 1 || step.inputs.empty()) continue;
    const Slot& out = body.slots[step.output()];
    if (out.kind != SlotKind::output || out.index != index) continue;
    if (body.slots[step.inputs[0]].kind != SlotKind::parameter || !shows_parameter(body, step.inputs[0], index))
      return false;
    if (step.operation == &copy_operation()) return true;
    return step.operation->op == graph::Op::dynamic_update_slice && reads_of_parameter(body.steps, body, index) == 1;
  }
  return false;
}

}  // namespace

std::size_t region_scratch(const Step& step, const Binding& binding, std::size_t index) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < step.regions.size(); ++i)
    bytes = std::max(bytes, RegionRunner::bytes(*step.regions[i], binding.regions[index][i]));
  return bytes;
}

std::size_t run_once_scratch(const Step& step, const Binding& binding, std::size_t index) {
  return RegionRunner::pointer_bytes(step.inputs.size() + step.outputs.size()) + region_scratch(step, binding, index);
}

// The condition's result, pointers to the values and to the body's results, a second copy of the values, and the
// regions' own memory.
std::size_t while_loop_scratch(const Step& step, const Binding& binding, std::size_t index) {
  std::size_t bytes =
      kScratchAlignment + RegionRunner::pointer_bytes(2 * step.outputs.size()) + region_scratch(step, binding, index);
  for (const SlotId output : step.outputs) bytes += scratch_aligned(binding.shapes[output].byte_count());
  return bytes;
}

void run_while_loop(const Step& step, const Frame& frame) {
  std::byte* goes_on = frame.scratch;
  const Ports ports(step.outputs.size(), step.outputs.size(), frame.scratch + kScratchAlignment);
  std::span<std::byte*> values = ports.inputs, made = ports.outputs;
  std::byte* next = ports.rest;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t bytes = frame.shape(step.outputs[i]).byte_count();
    values[i] = frame.out<std::byte>(step.outputs[i]);
    if (bytes > 0) std::memcpy(values[i], frame.in<std::byte>(step.inputs[i]), bytes);
    const bool stays = stays_in_place(*step.regions[1], i);
    made[i] = stays ? values[i] : next;
    if (!stays) next += scratch_aligned(bytes);
  }
  RegionRunner condition(step, 0, frame, next), body(step, 1, frame, next);
  for (;;) {
    frame.options.cancellation.check();
    condition.run(values, {&goes_on, 1});
    if (*goes_on == std::byte{0}) break;
    body.run(values, made);
    std::swap(values, made);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::byte* out = frame.out<std::byte>(step.outputs[i]);
    const std::size_t bytes = frame.shape(step.outputs[i]).byte_count();
    if (out != values[i] && bytes > 0) std::memcpy(out, values[i], bytes);
  }
}

void run_if_else(const Step& step, const Frame& frame) {
  const bool holds = *frame.in<std::uint8_t>(step.inputs[0]) != 0;
  run_once(step, frame, holds ? 0 : 1, 1);
}

void run_call(const Step& step, const Frame& frame) { run_once(step, frame, 0, 0); }

}  // namespace alate::cpu
