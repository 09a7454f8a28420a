// Alignment of scratch memory, and per-thread scratch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace alate::cpu {

/// A cache line, and the widest vector.
constexpr std::size_t kScratchAlignment = 64;

/// The size of a part rounded up, so that the next one begins on a cache line.
constexpr std::size_t scratch_aligned(std::size_t bytes) {
  return (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
}

/// Uses of per-thread scratch; each has its own memory.
enum class ThreadScratch : std::uint8_t { kernel, rotated_groups };

/// The calling thread's own memory for `use`: at least `floats` floats, aligned to kScratchAlignment. The next call
/// loses the contents. The memory is kept, so that only the first runs allocate. Throws resource_exhausted.
float* thread_scratch(std::size_t floats, ThreadScratch use = ThreadScratch::kernel);

}  // namespace alate::cpu
