#include "backends/cpu/kernels/cache_blocks.h"

#include <algorithm>

#include "base/cpu_facts.h"

namespace alate::cpu {

CacheBlocks cache_blocks(std::size_t l2_bytes) {
  // The smallest of the processors that matter, and what larger ones gain nothing above: on a Xeon with 2 MB, products
  // of 2048 numbers a row were 5 % slower with all of it. Virtual machines tell all kinds of sizes.
  constexpr std::size_t kLeast = std::size_t{256} << 10, kMost = std::size_t{1} << 20;
  // A row of an encoder's widest layer, and what is made of it on the way.
  constexpr std::size_t kTokenBytes = 8192, kMostTokens = 128;
  const std::size_t bytes = l2_bytes == 0 ? kMost : std::clamp(l2_bytes, kLeast, kMost);
  return {.row_words = bytes / 4 * 3 / sizeof(float),
          .waiting_floats = bytes / 8 / sizeof(float),
          .token_rows = std::min(bytes / kTokenBytes, kMostTokens)};
}

const CacheBlocks& cache_blocks() {
  static const CacheBlocks blocks = cache_blocks(base::cpu_facts().l2_bytes);
  return blocks;
}

}  // namespace alate::cpu
