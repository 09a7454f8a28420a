// Reductions over windows along one axis. Windows over several axes take one pass per axis.
#pragma once

#include <cstddef>
#include <cstdint>

#include "alate/tensor.h"
#include "backends/cpu/kernels/elementwise/tile.h"
#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// [outer, extent, inner] -> [outer, count, inner]: position p combines the elements at (p * stride + i *
/// window_dilation - low) / base_dilation for i < window that lie on the axis; the operation's identity if none does.
struct WindowPass {
  const void* x = nullptr;
  void* out = nullptr;
  std::size_t outer = 1, extent = 0, count = 0, inner = 1;
  std::int64_t window = 1, stride = 1, low = 0, base_dilation = 1, window_dilation = 1;
};
/// Computes rows [begin, end) of the result's outer * count rows.
using WindowLoop = void (*)(const WindowPass&, std::size_t begin, std::size_t end);

/// add, multiply, maximum and minimum over the integers of 8 to 64 bits, f32 and f64; add and multiply over c64 and
/// c128. Null for others.
WindowLoop window_loop(TileOp op, DType dtype, const Kernels& set = kernels());

void reduce_window(WindowLoop loop, const WindowPass& pass, base::ThreadPool& pool, std::size_t max_workers);

}  // namespace alate::cpu
