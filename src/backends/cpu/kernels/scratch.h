// How scratch memory is cut into parts.
#pragma once

#include <cstddef>

namespace alate::cpu {

/// A line of the cache, and the widest vector.
constexpr std::size_t kScratchAlignment = 64;

/// The bytes that a part takes, so that the next one begins on a line of the cache.
constexpr std::size_t scratch_aligned(std::size_t bytes) {
  return (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
}

}  // namespace alate::cpu
