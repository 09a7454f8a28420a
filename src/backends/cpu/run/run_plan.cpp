#include "backends/cpu/plan/run_plan.h"

#include "backends/cpu/run/row_blocks.h"
#include "backends/cpu/steps/work.h"

namespace alate::cpu {
namespace {

using Clock = std::chrono::steady_clock;

// Runs a step and records its own time; steps of its regions have already recorded theirs.
void run_timed(const Step& step, const Frame& frame, std::vector<backends::StepTime>& told) {
  const std::size_t before = told.size();
  const Clock::time_point start = Clock::now();
  step.operation->run(step, frame);
  std::chrono::nanoseconds time = Clock::now() - start;
  for (std::size_t i = before; i < told.size(); ++i) time -= told[i].time;
  told.push_back({step.operation->spelling, step.source, time, work_of(step, frame)});
}

// A view's offset in bytes from its base's start.
std::size_t view_offset(const Slot& view, const Binding& binding, std::size_t id) {
  const std::int64_t block = view.format.column_block();
  if (block == 0) return bytes_for(view.shape.dtype, view.offset);
  const auto blocks = static_cast<std::size_t>(view.offset / block);
  return bytes_for(view.shape.dtype, static_cast<std::int64_t>(blocks * binding.block_strides[id]));
}

// Pointers are std::byte* for both inputs and outputs; steps write only to their outputs.
std::byte* writable(const std::byte* bytes) { return const_cast<std::byte*>(bytes); }

}  // namespace

void point_slots(const Plan& plan, const Binding& binding, std::span<const std::byte* const> inputs,
                 std::span<std::byte* const> outputs, std::byte* arena, std::span<std::byte*> pointers) {
  for (std::size_t id = 0; id < plan.slots.size(); ++id) {
    const Slot& slot = plan.slots[id];
    switch (slot.kind) {
      case SlotKind::parameter: pointers[id] = writable(inputs[slot.index]); break;
      case SlotKind::constant: pointers[id] = writable(slot.constant.bytes().data()); break;
      case SlotKind::packed: pointers[id] = nullptr; break;
      case SlotKind::arena: pointers[id] = arena + binding.offsets[id]; break;
      case SlotKind::output: pointers[id] = outputs[slot.index]; break;
      case SlotKind::view: pointers[id] = pointers[slot.base] + view_offset(slot, binding, id); break;
    }
  }
}

void run_step(const Plan& plan, std::size_t index, Frame& frame) {
  frame.options.cancellation.check();
  frame.step = index;
  const Step& step = plan.steps[index];
  if (frame.options.profile == nullptr)
    step.operation->run(step, frame);
  else
    run_timed(step, frame, *frame.options.profile);
}

void run_steps(const Plan& plan, const Binding& binding, std::span<std::byte* const> pointers, std::byte* arena,
               base::ThreadPool& pool, std::size_t max_workers, const backends::RunOptions& options) {
  Frame frame{binding, pointers, pool, max_workers, options};
  auto blocks = binding.row_blocks.begin();
  for (std::size_t i = 0; i < plan.steps.size();) {
    if (blocks != binding.row_blocks.end() && blocks->group->first == i) {
      run_row_group(plan, *blocks, frame, arena);
      i = blocks->group->end;
      ++blocks;
      continue;
    }
    frame.scratch = arena + binding.step_scratch[i];
    run_step(plan, i++, frame);
  }
}

}  // namespace alate::cpu
