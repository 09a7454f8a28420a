// Binding and running row groups in blocks of rows (RowGroup, RowBlocks).
#pragma once

#include <cstddef>

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Number of blocks that a group of `rows` rows is cut into for `workers` threads; 1: its steps run one after the
/// other, each on all threads. A run reads `weight_bytes` of packed weights.
std::size_t row_block_count(std::size_t rows, std::size_t workers, std::size_t weight_bytes);

/// Fills binding.row_blocks with the groups that run in blocks on `workers` threads, all but their offsets in the
/// arena. The binding already has its shapes.
void bind_row_groups(const Plan& plan, std::size_t workers, Binding& binding);

/// Runs one group. `frame` is the whole plan's; its pool runs the blocks. Throws what a step throws.
void run_row_group(const Plan& plan, const RowBlocks& blocks, const Frame& frame, std::byte* arena);

}  // namespace alate::cpu
