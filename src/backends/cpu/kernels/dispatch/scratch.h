// How scratch memory is cut into parts, and the memory that threads keep for themselves.
#pragma once

#include <cstddef>
#include <cstdint>

namespace alate::cpu {

/// A line of the cache, and the widest vector.
constexpr std::size_t kScratchAlignment = 64;

/// The bytes that a part takes, so that the next one begins on a line of the cache.
constexpr std::size_t scratch_aligned(std::size_t bytes) {
  return (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
}

/// What a thread has memory of its own for.
enum class ThreadScratch : std::uint8_t { kernel, rotated_runs };

/// The calling thread's own memory for this, aligned to kScratchAlignment, at least so many floats, whose values are
/// lost when it is asked for again. It is kept, so that only the first runs allocate. Throws resource_exhausted.
float* thread_scratch(std::size_t floats, ThreadScratch use = ThreadScratch::kernel);

}  // namespace alate::cpu
