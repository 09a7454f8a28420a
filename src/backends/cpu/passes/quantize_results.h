// Quantizes results that only an integer product reads where they are made: group by group, as soon as a group's
// columns are done, while they are in the cache. The product multiplies the same integers, and the value between the
// two steps takes a quarter of the memory.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Changes to quantized rows (plan/integer_rows.h) each arena slot that one product writes whole and that only one
/// integer product reads, as its activations. Groups must end on the writer's panel boundaries. Marks steps whose
/// results only such products read: attention then needs no more precision than they keep. Call it before the plan has
/// row groups.
void quantize_results(Plan& plan);

}  // namespace alate::cpu
