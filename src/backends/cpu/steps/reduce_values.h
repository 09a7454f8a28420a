// The reduction that steps of several ops share.
#pragma once

#include "backends/cpu/kernels/elementwise/tile.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {

/// Reduces input 0 of the step over the axes of its attributes, for an op and dtype that reduce_loop supports; `start`,
/// unless null, is an initial value of the dtype for every result. Scratch: reduce_scratch.
void reduce_values(const Step& step, const Frame& frame, TileOp op, const std::byte* start);

}  // namespace alate::cpu
