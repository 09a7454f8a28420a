#include "backends/cpu/kernels/gemm/cache_blocks.h"

#include <algorithm>

#include "base/hardware/cpu_facts.h"

namespace alate::cpu {

CacheBlocks cache_blocks(std::size_t l2_bytes) {
  // The smallest L2 of the CPUs that matter, a common one, and more than any core has: virtual machines report all
  // kinds of sizes.
  constexpr std::size_t kLeast = std::size_t{256} << 10, kUsual = std::size_t{1} << 20, kTooMuch = std::size_t{4} << 20;
  // With 2 MB, products of rows of 2048 numbers were 5 % slower with three quarters of it than with a half.
  constexpr std::size_t kMostForRows = kUsual;
  // A row of an encoder's widest layer, with its intermediate values.
  constexpr std::size_t kTokenBytes = 8192, kMostTokens = 128;
  const std::size_t all = l2_bytes == 0 || l2_bytes >= kTooMuch ? kUsual : std::max(l2_bytes, kLeast);
  const std::size_t bytes = std::min(all, kUsual);
  return {.row_words = std::min(all / 4 * 3, kMostForRows) / sizeof(float),
          .waiting_floats = bytes / 8 / sizeof(float),
          .token_rows = std::min(bytes / kTokenBytes, kMostTokens)};
}

const CacheBlocks& cache_blocks() {
  static const CacheBlocks blocks = cache_blocks(base::cpu_facts().l2_bytes);
  return blocks;
}

}  // namespace alate::cpu
