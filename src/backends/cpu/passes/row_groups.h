// Sequences of steps in which rows are independent: a thread takes some rows through all of them, without waiting for
// other threads and with intermediate values in its own cache.
#pragma once

#include <vector>

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// The row groups of a plan, in step order.
std::vector<RowGroup> find_row_groups(const Plan& plan);

}  // namespace alate::cpu
