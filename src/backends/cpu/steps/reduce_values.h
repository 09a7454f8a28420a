// The reduction that steps of several ops are.
#pragma once

#include "backends/cpu/kernels/elementwise/tile.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {

/// Input 0 of the step over the axes of its attributes, for an op and a dtype that reduce_loop has; `start`, where
/// there is one, is a value of the dtype that takes part in every result. Scratch: reduce_scratch.
void reduce_values(const Step& step, const Frame& frame, TileOp op, const std::byte* start);

}  // namespace alate::cpu
