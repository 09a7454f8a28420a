// Runs of steps in which every row goes its own way: a thread takes some rows through all of them, with no wait for the
// other threads and with what lies between the steps in its own cache.
#pragma once

#include <vector>

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// The groups of a plan, in the order of its steps.
std::vector<RowGroup> find_row_groups(const Plan& plan);

}  // namespace alate::cpu
