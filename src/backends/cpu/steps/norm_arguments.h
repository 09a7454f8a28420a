// Kernel arguments of a layer_norm, rms_norm or normalize step.
#pragma once

#include <optional>

#include "backends/cpu/kernels/rows/normalize.h"
#include "backends/cpu/steps/products/widened.h"

namespace alate::cpu {

/// The place of the sums of rows of operand 0, if a layer norm has them: behind its op's operands, see sum_results.h.
std::optional<std::size_t> row_sums_operand(const Step& step);

/// The step's arguments, with operands and result as `values` provides them.
NormArguments norm_arguments(const Step& step, const Frame& frame, WidenedValues& values);

}  // namespace alate::cpu
