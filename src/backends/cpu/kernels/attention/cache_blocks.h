// How much of what kernels work on lies in a core's second-level cache.
#pragma once

#include <cstddef>

namespace alate::cpu {

struct CacheBlocks {
  std::size_t row_words;       // of A that a task of a product reads, beside the part of W that is multiplied
  std::size_t waiting_floats;  // of C that wait until they become integers
  std::size_t token_rows;      // that a thread takes through a group of steps
};

/// For a cache of so many bytes, 0 where that is not known. What results are depends on none of them.
CacheBlocks cache_blocks(std::size_t l2_bytes);

/// Of this processor. Thread-safe.
const CacheBlocks& cache_blocks();

}  // namespace alate::cpu
