// Results that only a product of integers reads become its integers where they are made: run by run of their rows, as
// soon as a run's columns are done, while they are in the cache. The product multiplies the same integers, and what
// lies between the two steps takes a quarter of the memory.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Makes kIntegerRowsType (steps/integer_rows.h) of each slot in the arena that a product writes whole and that one
/// product of integers reads as its activations, and nothing else reads. Runs must end where the writer's panels do.
/// Marks the steps of attention whose results such products alone read: more bits than those keep are of no use in it.
/// To be called while the plan has no row groups.
void quantize_results(Plan& plan);

}  // namespace alate::cpu
