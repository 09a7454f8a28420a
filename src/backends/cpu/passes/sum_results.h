// A layer norm's means come from the product whose result it takes: sums of rows are made in the tiles, while their
// numbers are in registers, so that the norm reads its rows once less. The same bits as the norm's own sums.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Gives each layer norm of f32 the sums of its rows as a further input, and the product that writes these rows as a
/// second result, where one product without an activation writes all of the slot that the norm reads. To be called when
/// results have the types that they stay with, and while the plan has no row groups.
void sum_results(Plan& plan);

}  // namespace alate::cpu
