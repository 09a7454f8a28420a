// Reductions of any computed type in a fixed order: the result does not depend on the number of threads.
#pragma once

#include <cstddef>

#include "alate/tensor.h"
#include "backends/cpu/kernels/elementwise/tile.h"
#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// [outer, length, inner] -> [outer, inner] over the middle axis, both contiguous and row-major; inner = 1 reduces the
/// last axis. A length of 0 gives the identity: 0, 1, the lowest or the highest value. Extremes of floats propagate
/// NaN.
struct ReduceArguments {
  const void* x = nullptr;
  void* out = nullptr;
  std::size_t outer = 0, length = 0, inner = 1;
};
/// Reduces columns [begin, end) of `inner`, for all of `outer`.
using ReduceLoop = void (*)(const ReduceArguments&, std::size_t begin, std::size_t end);

/// add, multiply, maximum, minimum, bitwise_and, bitwise_or or bitwise_xor over bool, integers of 8 to 64 bits, f32,
/// f64; add and multiply over c64 and c128. Null for others.
ReduceLoop reduce_loop(TileOp op, DType dtype, const Kernels& set = kernels());

/// The whole reduction, split over the pool's workers. The loop for the op and dtype must exist.
void reduce(TileOp op, DType dtype, const ReduceArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
            const Kernels& set = kernels());

ReduceLoop reduce_loop_complex(TileOp op, DType dtype);

}  // namespace alate::cpu
