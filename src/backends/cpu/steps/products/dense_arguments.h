// The weight and the GEMM arguments of a dense step.
#pragma once

#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// The weight of a dense step.
SlotId weight_slot(const Step& step);

/// For a step over f32 whose weight is packed as floats or words: strides and k count elements of x.
GemmArguments dense_arguments(const Step& step, const Frame& frame);

/// Sets what the step's epilogue says for a product of n columns: bias, activation, residual, row sums, and where the
/// result goes, by the format of its slot.
void apply_epilogue(const Step& step, const Frame& frame, GemmArguments& product);

}  // namespace alate::cpu
