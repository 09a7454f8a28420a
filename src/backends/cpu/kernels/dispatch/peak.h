// Measured peak multiply-add throughput, the yardstick for GEMM speed.
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// f32 multiplications and additions per second, in registers, on all the pool's workers at once; takes a few
/// milliseconds.
double peak_operations_per_second(base::ThreadPool& pool, std::size_t max_workers, const Kernels& set = kernels());

}  // namespace alate::cpu
