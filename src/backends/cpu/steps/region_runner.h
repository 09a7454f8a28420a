// Runs one region of a step, in memory of its own.
#pragma once

#include <span>
#include <vector>

#include "backends/cpu/run_plan.h"

namespace alate::cpu {

class RegionRunner {
 public:
  /// `arena` has the bytes that region_scratch asks for.
  RegionRunner(const Step& step, std::size_t region, const Frame& frame, std::byte* arena)
      : plan_(*step.regions[region]),
        binding_(frame.binding.regions[frame.step][region]),
        frame_(frame),
        arena_(arena) {}

  void run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs) {
    point_slots(plan_, binding_, inputs, outputs, arena_, pointers_);
    run_steps(plan_, binding_, pointers_, arena_, frame_.pool, frame_.max_workers, frame_.options);
  }

 private:
  const Plan& plan_;
  const Binding& binding_;
  const Frame& frame_;
  std::byte* arena_;
  std::vector<std::byte*> pointers_;
};

}  // namespace alate::cpu
