// Fuses a norm with the quantized product that reads it: f32 layer_norm or rms_norm and the integer product become one
// step. A row is then quantized while it is in the L1 cache; its floats are still written, for residual connections and
// other products to read. Results are bit-identical.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Joins each such pair into one step, in the product's place; a norm that several products read joins the first. Call
/// it before the plan has row groups.
void join_norms(Plan& plan);

}  // namespace alate::cpu
