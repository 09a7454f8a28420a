// How activations are quantized for a product.
#pragma once

#include "backends/cpu/kernels/quantize/quantize_rows.h"
#include "backends/cpu/plan/plan.h"

namespace alate::cpu {

/// What a quantized_dense step with 8-bit activations wants done to them.
RowQuantization activation_quantization(const Step& step);

/// Sets smoothing and rotation; the destination (integers_in) has the groups.
void quantize_by(const RowQuantization& quantization, const Frame& frame, QuantizeArguments& integers);

}  // namespace alate::cpu
