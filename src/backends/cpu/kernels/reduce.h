// Reductions of f32 in a fixed order: one result whatever the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/kernel_set.h"
#include "base/thread_pool.h"

namespace alate::cpu {

enum class ReduceOp : std::uint8_t { sum, product, max, min };  // max and min give NaN when there is one

/// [outer, length, inner] -> [outer, inner] over the middle axis, both contiguous and row-major; inner = 1 reduces the
/// last axis. A length of 0 gives the identity (0, 1, -infinity, infinity).
struct ReduceArguments {
  const float* x = nullptr;
  float* out = nullptr;
  std::size_t outer = 0;
  std::size_t length = 0;
  std::size_t inner = 1;
};

void reduce(ReduceOp op, const ReduceArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
            const Kernels& set = kernels());

}  // namespace alate::cpu
