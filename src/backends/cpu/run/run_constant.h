// Constants computed by the engine's kernels.
#pragma once

#include <functional>

#include "graph/constant.h"

namespace alate::cpu {

/// The value of `constant`, computed by the kernels of its op and, in one run, of the ops of its operands for which
/// `is_included` holds; `value_of` gives the values of the others. Work is split over the shared thread pool. All ops
/// have static shapes and kernels. Thread-safe.
Tensor run_constant(const graph::Constant& constant, const std::function<bool(const graph::Constant&)>& is_included,
                    const std::function<Tensor(const graph::Constant&)>& value_of);

}  // namespace alate::cpu
