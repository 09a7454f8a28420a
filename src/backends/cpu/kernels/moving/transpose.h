// Copies of arrays with their axes in another order, or broadcast.
#pragma once

#include <cstddef>
#include <span>

#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// out, contiguous and row-major with dimensions `dims`, takes element (i0, i1, ...) from
/// in[i0 * strides[0] + i1 * strides[1] + ...]. Strides count elements and may be 0 (broadcast) or negative (reverse).
/// `element_bytes` is 1, 2, 4, 8 or 16; in and out are aligned to it. At most 16 dimensions: more throws unsupported.
void copy_strided(const void* in, std::span<const std::ptrdiff_t> strides, void* out, std::span<const std::size_t> dims,
                  std::size_t element_bytes, base::ThreadPool& pool, std::size_t max_workers,
                  const Kernels& set = kernels());

}  // namespace alate::cpu
