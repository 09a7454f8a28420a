// How fast the processor can multiply and add floats at best, by which the speed of products is judged.
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/dispatch/kernel_set.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// Multiplications and additions of f32 a second, in registers, with the pool's workers at once; takes some
/// milliseconds.
double peak_operations_per_second(base::ThreadPool& pool, std::size_t max_workers, const Kernels& set = kernels());

}  // namespace alate::cpu
