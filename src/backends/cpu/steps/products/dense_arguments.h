// The weight and the GEMM arguments of a dense step.
#pragma once

#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// The weight of a dense step.
SlotId weight_slot(const Step& step);

/// For a step over f32 whose weight is packed as floats or words: strides and k count elements of x.
GemmArguments dense_arguments(const Step& step, const Frame& frame);

/// Sets where the step's result of n columns goes, by the format of its slot; and its second result, if any: row sums
/// (sum_results.h).
void place_result(const Step& step, const Frame& frame, GemmArguments& product);

}  // namespace alate::cpu
