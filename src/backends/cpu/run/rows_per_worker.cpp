#include "backends/cpu/run/rows_per_worker.h"

#include <algorithm>

namespace alate::cpu {
namespace {

// The widest activations of an encoder's layer take some ten kilobytes per token, and L2 caches have 1 or 2 MB.
constexpr std::size_t kUsualRows = 128;
// Weights that fit in no cache are read from memory for each part. On two threads with tile registers, BERT-base is 1.2
// times as fast in bf16 with parts of 512 tokens as with 128, and 1.1 times in 8 bits with 256 (1.06 with 512); in
// float32 and without tile registers it makes no difference.
constexpr std::size_t kFewestFromMemory = 256, kMostFromMemory = 512, kWeightBytesARow = 330'000;

}  // namespace

std::size_t rows_per_worker(std::size_t weight_bytes) {
  if (weight_bytes <= kCachedWeightBytes) return kUsualRows;
  return std::clamp(weight_bytes / kWeightBytesARow, kFewestFromMemory, kMostFromMemory);
}

}  // namespace alate::cpu
