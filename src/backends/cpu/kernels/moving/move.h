// Copies between strided arrays.
#pragma once

#include <cstddef>
#include <span>

#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// Copies in[Σ i·in_strides] to out[Σ i·out_strides] for every index i below `dims`. Strides count elements and may be
/// negative; those of `in` may be 0. No two indices lead to one element of out, and the arrays do not overlap.
/// `element_bytes` is 1, 2, 4, 8 or 16. At most 16 dimensions: more throws unsupported.
void move_strided(const void* in, std::span<const std::ptrdiff_t> in_strides, void* out,
                  std::span<const std::ptrdiff_t> out_strides, std::span<const std::size_t> dims,
                  std::size_t element_bytes, base::ThreadPool& pool, std::size_t max_workers);

/// Copies dense bytes; does nothing when in == out.
void move_bytes(const void* in, void* out, std::size_t bytes, base::ThreadPool& pool, std::size_t max_workers);

/// Writes one element of 1, 2, 4, 8 or 16 bytes `count` times.
void fill_elements(void* out, const void* element, std::size_t element_bytes, std::size_t count, base::ThreadPool& pool,
                   std::size_t max_workers);

/// Windows of one shape, each copied from its own offset into `in`. Window n, counted in row-major order of
/// `batch_dims`, is copied from in + places[n] to out + Σ i·batch_strides; strides within a window are as above.
struct GatherWindows {
  const void* in = nullptr;
  const std::ptrdiff_t* places = nullptr;
  void* out = nullptr;
  std::span<const std::size_t> batch_dims, window_dims;
  std::span<const std::ptrdiff_t> batch_strides, window_in_strides, window_out_strides;
  std::size_t element_bytes = 0;
};
void gather_windows(const GatherWindows& arguments, base::ThreadPool& pool, std::size_t max_workers);

}  // namespace alate::cpu
