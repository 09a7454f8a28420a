// Products of an unpacked f32 matrix with one vector from either side (GEMV): bound by reading the matrix once, so that
// packing it (gemm.h) would cost more than it gains.
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// A matrix [rows, width] with m_stride floats between rows. Nothing is owned; out overlaps nothing.
struct RowProductArguments {
  const float* m = nullptr;
  std::size_t m_stride = 0;
  const float* x = nullptr;
  float* out = nullptr;
  std::size_t rows = 0;
  std::size_t width = 0;
  float scale = 1;
};

/// out[i] = scale · Σ m[i, j] x[j], for x [width] and out [rows]. A row's bits depend only on that row.
void dot_rows(const RowProductArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
              const Kernels& set = kernels());

/// out[j] = scale · Σ x[i] m[i, j], for x [rows] and out [width]. Each sum goes over the rows in order.
void sum_rows(const RowProductArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
              const Kernels& set = kernels());

}  // namespace alate::cpu
