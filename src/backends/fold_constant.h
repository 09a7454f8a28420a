// Values of constants that are ops over a model's tensors.
#pragma once

#include "alate/tensor.h"
#include "graph/constant.h"

namespace alate::backends {

/// The bytes of a constant: a leaf's own tensor, without a copy, or its ops' result, bit for bit as
/// graph::materialize computes it. Large values that are only moved or widened are made by kernels on many threads.
/// Thread-safe.
Tensor fold_constant(const graph::Constant& constant);

}  // namespace alate::backends
