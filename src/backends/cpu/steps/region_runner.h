// Runs one region of a step, in memory of the step: nothing is allocated.
#pragma once

#include <span>

#include "backends/cpu/kernels/scratch.h"
#include "backends/cpu/run_plan.h"

namespace alate::cpu {

class RegionRunner {
 public:
  /// `memory` has the bytes that region_scratch asks for. Runners that take turns may have the same.
  RegionRunner(const Step& step, std::size_t region, const Frame& frame, std::byte* memory)
      : plan_(*step.regions[region]),
        binding_(frame.binding.regions[frame.step][region]),
        frame_(frame),
        pointers_(reinterpret_cast<std::byte**>(memory), plan_.slots.size()),
        arena_(memory + pointer_bytes(plan_.slots.size())) {}

  static std::size_t pointer_bytes(std::size_t count) { return scratch_aligned(count * sizeof(std::byte*)); }
  static std::size_t bytes(const Plan& plan, const Binding& binding) {
    return pointer_bytes(plan.slots.size()) + binding.arena_bytes;
  }

  void run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs) {
    point_slots(plan_, binding_, inputs, outputs, arena_, pointers_);
    run_steps(plan_, binding_, pointers_, arena_, frame_.pool, frame_.max_workers, frame_.options);
  }

 private:
  const Plan& plan_;
  const Binding& binding_;
  const Frame& frame_;
  std::span<std::byte*> pointers_;
  std::byte* arena_;
};

}  // namespace alate::cpu
