// Runs the steps of a bound plan over given memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Where the bytes of each slot are: the caller's inputs and outputs, constants, and the arena. One pointer a slot.
void point_slots(const Plan& plan, const Binding& binding, std::span<const std::byte* const> inputs,
                 std::span<std::byte* const> outputs, std::byte* arena, std::span<std::byte*> pointers);

/// One step, whose scratch the frame has. Throws cancelled before it when the options say so.
void run_step(const Plan& plan, std::size_t index, Frame& frame);

/// Every step in order, groups of rows in blocks where the binding says so. `max_workers` threads at most, which are no
/// more than the binding is for. Throws cancelled between steps when the options say so.
void run_steps(const Plan& plan, const Binding& binding, std::span<std::byte* const> pointers, std::byte* arena,
               base::ThreadPool& pool, std::size_t max_workers, const backends::RunOptions& options);

}  // namespace alate::cpu
