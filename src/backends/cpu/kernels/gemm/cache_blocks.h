// Block sizes that fit a core's L2 cache.
#pragma once

#include <cstddef>

namespace alate::cpu {

struct CacheBlocks {
  std::size_t row_words;       // of A per task of a product, beside the part of W in use
  std::size_t waiting_floats;  // of C that wait to be quantized
  std::size_t token_rows;      // that a thread takes through a row group
};

/// For a cache of l2_bytes bytes, 0 if unknown. Results do not depend on block sizes.
CacheBlocks cache_blocks(std::size_t l2_bytes);

/// For this CPU. Thread-safe.
const CacheBlocks& cache_blocks();

}  // namespace alate::cpu
