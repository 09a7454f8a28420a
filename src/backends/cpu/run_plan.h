// Runs the steps of a bound plan over given memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backends/cpu/plan.h"

namespace alate::cpu {

/// Where the bytes of each slot are: the caller's inputs and outputs, constants, and the arena. One pointer a slot.
void point_slots(const Plan& plan, const Binding& binding, std::span<const std::byte* const> inputs,
                 std::span<std::byte* const> outputs, std::byte* arena, std::span<std::byte*> pointers);

/// Every step in order. Throws cancelled between them when the options say so.
void run_steps(const Plan& plan, const Binding& binding, std::span<std::byte* const> pointers, std::byte* arena,
               base::ThreadPool& pool, std::size_t max_workers, const backends::RunOptions& options);

}  // namespace alate::cpu
