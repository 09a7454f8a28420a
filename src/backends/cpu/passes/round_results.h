// Results that products of bf16 read are rounded where they are made, instead of by each product once more: on their
// way from the registers of a product, of attention or of a norm. Of half the size, they also stay nearer to the
// processor. The products multiply the same numbers.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Where this processor multiplies bf16 as it is: makes bf16 of each slot in the arena that one product in bf16, norm
/// or ragged attention writes, and that is read as the activations of products with weights of bf16 alone. A norm whose
/// result is read otherwise, too, gets a second result for them. To be called while the plan has no row groups.
void round_results(Plan& plan);

}  // namespace alate::cpu
