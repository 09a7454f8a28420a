// Kernel arguments of a layer_norm, rms_norm or normalize step.
#pragma once

#include "backends/cpu/kernels/rows/normalize.h"
#include "backends/cpu/steps/products/widened.h"

namespace alate::cpu {

NormKind norm_kind(const Step& step);

/// The step's arguments, with operands and result as `values` provides them.
NormArguments norm_arguments(const Step& step, const Frame& frame, WidenedValues& values);

}  // namespace alate::cpu
