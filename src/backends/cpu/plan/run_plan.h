// Runs the steps of a bound plan over given memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Sets each slot's pointer: into the caller's inputs and outputs, constants, or the arena. One pointer per slot.
void point_slots(const Plan& plan, const Binding& binding, std::span<const std::byte* const> inputs,
                 std::span<std::byte* const> outputs, std::byte* arena, std::span<std::byte*> pointers);

/// Runs one step, with its scratch in the frame. Throws cancelled before the step when the options say so.
void run_step(const Plan& plan, std::size_t index, Frame& frame);

/// Runs every step in order, row groups in blocks where the binding says so, on at most `max_workers` threads, which
/// must not exceed the binding's workers. Throws cancelled between steps when the options say so.
void run_steps(const Plan& plan, const Binding& binding, std::span<std::byte* const> pointers, std::byte* arena,
               base::ThreadPool& pool, std::size_t max_workers, const backends::RunOptions& options);

}  // namespace alate::cpu
