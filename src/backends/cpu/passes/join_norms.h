// Norms whose result becomes integers: layer_norm or rms_norm of f32, and the product of integers that reads its rows
// next, become one step. A row is then rounded while it is in the first-level cache; its floats are written all the
// same, for residual connections and other products to read. The results have the same bits.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Makes one step of each such pair, in the product's place; a norm that several products read joins the first. To be
/// called while the plan has no row groups.
void join_norms(Plan& plan);

}  // namespace alate::cpu
