// The order of a plan's steps: what must run before what, and other orders that keep to it.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Steps are named by their places in the plan as it was at construction.
class StepOrder {
 public:
  /// Each step runs after the steps that made what it reads, and after those that use what it writes over.
  explicit StepOrder(const Plan& plan);

  /// Whether `before` could run before `after`: it neither is `after` nor needs it, directly or by others.
  bool allows(std::size_t before, std::size_t after) const;
  /// From here on `before` runs before `after`. REQUIRES: the order allows it.
  void require(std::size_t before, std::size_t after) { successors_[before].push_back(after); }
  /// Sorts the plan's steps. Steps that may keep their places do. REQUIRES: the plan's steps are unchanged.
  void apply(Plan& plan) const;

 private:
  std::vector<std::vector<std::size_t>> successors_;  // of each step
};

}  // namespace alate::cpu
