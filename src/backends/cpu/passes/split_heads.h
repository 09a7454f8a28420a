// Stores products that only attention reads head-major: the rows of a head are contiguous, instead of a whole row of
// queries, keys and values apart.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Puts into column blocks of the head size each arena slot that one f32 product writes and that is only read as the
/// queries, keys or values of attention over ragged batches, all with the same head size. Values are bit-identical;
/// only their layout changes. Call it on a finished plan, before its row groups are found.
void split_heads(Plan& plan);

}  // namespace alate::cpu
