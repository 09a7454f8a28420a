// Softmax over the last axis of f32 rows. A row's bits depend only on that row.
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// Strides count floats between rows. Nothing is owned; out may be x.
struct SoftmaxArguments {
  const float* x = nullptr;
  std::size_t x_stride = 0;
  float* out = nullptr;
  std::size_t out_stride = 0;
  std::size_t rows = 0;
  std::size_t width = 0;
  bool logarithm = false;  // x - max - log(sum(exp(x - max))) in place of exp(x - max) / sum
  bool streams = false;    // non-temporal stores, for results too large for the caches
};

void softmax_rows(const SoftmaxArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                  const Kernels& set = kernels());

}  // namespace alate::cpu
