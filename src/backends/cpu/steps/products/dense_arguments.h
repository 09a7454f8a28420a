// A dense step as the product that gemm computes.
#pragma once

#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// Of a step over f32 whose weight is packed in floats or words: strides and k count elements of x.
GemmArguments dense_arguments(const Step& step, const Frame& frame);

/// Where the step's result of n columns goes: rows of floats, of bf16 (round_results.h) or of integers
/// (quantize_results.h), or blocks of columns, and its second result, if there is one: sums of its rows
/// (sum_results.h).
void place_result(const Step& step, const Frame& frame, GemmArguments& product);

}  // namespace alate::cpu
