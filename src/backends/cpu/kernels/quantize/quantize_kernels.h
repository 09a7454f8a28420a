// The kernels that round to integers, of an instruction set's table (dispatch.h).
#pragma once

#include "backends/cpu/kernels/quantize/normalize_quantize.h"
#include "backends/cpu/kernels/quantize/quantize_rows.h"
#include "backends/cpu/kernels/vectors/kernel_set.h"

namespace alate::cpu {

/// Each is documented at the function of the same name in its own header, which adds threading.
struct QuantizeKernels {
  void (*quantize_rows)(const QuantizeArguments&) = nullptr;
  void (*normalize_and_quantize_rows)(NormKind, const NormArguments&, const QuantizeArguments&) = nullptr;
};

const QuantizeKernels& quantize_kernels(const Kernels& set = kernels());

}  // namespace alate::cpu
