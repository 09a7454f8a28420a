// Rounds results that bf16 products read where they are made, not once more in each product: as a product, attention
// or a norm stores its registers. At half the size, they also stay in nearer caches. The products multiply the same
// numbers.
#pragma once

#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Where this CPU multiplies bf16 natively: changes to bf16 rows each arena slot that one bf16 product, norm or ragged
/// attention writes and that is only read as the activations of products with bf16 weights. A norm whose result has
/// other readers too gets a second, bf16 result for those products. Call it before the plan has row groups.
void round_results(Plan& plan);

}  // namespace alate::cpu
