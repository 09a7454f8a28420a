// Runs one region of a step in the step's scratch, without allocating.
#pragma once

#include <span>

#include "backends/cpu/kernels/vectors/scratch.h"
#include "backends/cpu/plan/run_plan.h"

namespace alate::cpu {

/// Whether a profile records the region's steps one by one. Steps of a region that runs for every element are not
/// recorded: reading the clock would take longer than running them.
enum class RegionProfile : std::uint8_t { each_step, none };

class RegionRunner {
 public:
  /// `memory` has region_scratch bytes. Runners that take turns may share it.
  RegionRunner(const Step& step, std::size_t region, const Frame& frame, std::byte* memory,
               RegionProfile profile = RegionProfile::each_step)
      : plan_(*step.regions[region]),
        binding_(frame.binding.regions[frame.step][region]),
        frame_(frame),
        options_{frame.options.cancellation, frame.options.max_workers,
                 profile == RegionProfile::none ? nullptr : frame.options.profile},
        pointers_(reinterpret_cast<std::byte**>(memory), plan_.slots.size()),
        arena_(memory + pointer_bytes(plan_.slots.size())) {}

  static std::size_t pointer_bytes(std::size_t count) { return scratch_aligned(count * sizeof(std::byte*)); }
  static std::size_t bytes(const Plan& plan, const Binding& binding) {
    return pointer_bytes(plan.slots.size()) + binding.arena_bytes;
  }

  void run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs) {
    point_slots(plan_, binding_, inputs, outputs, arena_, pointers_);
    run_steps(plan_, binding_, pointers_, arena_, frame_.pool, frame_.max_workers, options_);
  }

 private:
  const Plan& plan_;
  const Binding& binding_;
  const Frame& frame_;
  const backends::RunOptions options_;
  std::span<std::byte*> pointers_;
  std::byte* arena_;
};

}  // namespace alate::cpu
