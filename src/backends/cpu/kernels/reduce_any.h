// Reductions of any computed type in a fixed order. Those of f32 that sum, or look for extremes, have code of their own
// in reduce.h.
#pragma once

#include <cstddef>

#include "alate/tensor.h"
#include "backends/cpu/kernels/kernel_set.h"
#include "backends/cpu/kernels/tile.h"
#include "base/thread_pool.h"

namespace alate::cpu {

/// [outer, length, inner] -> [outer, inner] over the middle axis, both contiguous and row-major: the part of `inner`
/// from `begin` to `end`. A length of 0 gives the identity.
struct ReduceAnyArguments {
  const void* x = nullptr;
  void* out = nullptr;
  std::size_t outer = 0, length = 0, inner = 1;
};
using ReduceLoop = void (*)(const ReduceAnyArguments&, std::size_t begin, std::size_t end);

/// add, multiply, maximum, minimum, bitwise_and, bitwise_or or bitwise_xor over bool, integers of 8 to 64 bits, f32,
/// f64; add and multiply over c64 and c128. None for others.
ReduceLoop reduce_loop(TileOp op, DType dtype, const Kernels& set = kernels());

/// The whole reduction, split over the pool's workers by rows or columns.
void reduce_any(ReduceLoop loop, const ReduceAnyArguments& arguments, std::size_t element_bytes, base::ThreadPool& pool,
                std::size_t max_workers);

ReduceLoop reduce_loop_complex(TileOp op, DType dtype);

}  // namespace alate::cpu
