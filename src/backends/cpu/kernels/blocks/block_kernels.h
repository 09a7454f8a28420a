// The kernels of products with ggml blocks, of an instruction set's table (dispatch.h).
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/blocks/block_product.h"

namespace alate::cpu {

/// k of W that are unpacked at a time, where several rows or floats are multiplied with them.
constexpr std::size_t kUnpackedIntegers = 512, kUnpackedFloats = 256;
/// Most rows of a task.
constexpr std::size_t kBlockTaskRows = 128;

/// Rows [row_begin, row_end), at most kBlockTaskRows, of panels [panel_begin, panel_end).
struct BlockTask {
  const BlockProduct* product;
  const std::byte* integers;  // of all rows, by quantize_row; null: floats
  std::size_t row_begin, row_end, panel_begin, panel_end;
  float* scratch;  // kBlockTaskScratch floats, aligned to 64 bytes
};

/// Unpacked integers with scales and minima of groups of 16, or unpacked floats; and sums.
constexpr std::size_t kBlockTaskScratch =
    kBlockPanel * (kUnpackedIntegers / 4 + 2 * (kUnpackedIntegers / 16) + kUnpackedFloats + kBlockTaskRows);

/// The integers of a row of A: k bytes, then k / 32 floats, the scales, then k / group numbers of 32 bits, the sums of
/// each group's integers, negated.
constexpr std::size_t integer_row_bytes(std::size_t k, std::size_t group) {
  return (k + k / kBlockPart * 4 + k / group * 4 + 63) / 64 * 64 + 64;  // rows of 4096 bytes would evict each other
}

struct BlockKernels {
  /// A group with an infinity or a NaN has a scale of NaN.
  void (*quantize_row)(const float* x, std::size_t k, std::size_t group, std::byte* row) = nullptr;
  void (*multiply)(const BlockTask&) = nullptr;
};

const BlockKernels& block_kernels(const Kernels& set = kernels());

}  // namespace alate::cpu
