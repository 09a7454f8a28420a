// Takes a layer norm's means from the product that writes its input: row sums are made in the product's tiles, while
// values are in registers, so that the norm reads its rows once less. Bit-identical to the norm's own sums.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Makes row sums a second result of the product and a further input of the f32 layer norm, where one product without
/// an activation writes all of the slot that the norm reads. Call it when results have their final types and before the
/// plan has row groups.
void sum_results(Plan& plan);

}  // namespace alate::cpu
