// Rounding of f32 rows to bf16, for products with bf16 weights.
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "backends/cpu/kernels/vectors/word_kind.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// Each number becomes the nearest bf16, ties to even; NaN stays NaN. A word holds two bf16, or one widened back to
/// f32. Strides count elements of x and words. Nothing is owned; words may alias x where a word holds one number.
struct Bf16RowArguments {
  const float* x = nullptr;  // [rows, width]
  std::size_t x_stride = 0;
  void* words = nullptr;  // [rows, words_stride]; an odd row's last half word is zero
  std::size_t words_stride = 0;
  std::size_t rows = 0;
  std::size_t width = 0;
  WordKind kind = WordKind::bf16;  // or f32
};

void round_rows_to_bf16(const Bf16RowArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                        const Kernels& set = kernels());

}  // namespace alate::cpu
