// What a step of layer_norm, rms_norm or normalize asks of its kernel.
#pragma once

#include "backends/cpu/kernels/rows/normalize.h"
#include "backends/cpu/steps/products/widened.h"

namespace alate::cpu {

NormKind norm_kind(const Step& step);

/// Operands and the result as `values` gives them.
NormArguments norm_arguments(const Step& step, const Frame& frame, WidenedValues& values);

}  // namespace alate::cpu
