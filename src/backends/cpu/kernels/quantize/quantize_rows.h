// Rows of f32 as integers of 8 bits, for products of words.
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/dispatch/kernel_set.h"
#include "backends/cpu/kernels/gemm/gemm_kernel.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// Numbers that can be rotated together: a multiple of it, and a power of two.
constexpr std::size_t kLeastRotation = 128;
/// Runs that lie rotated at one time.
constexpr std::size_t kRotatedRuns = 4;

/// Each row of x · smoothing, rotated, is cut into runs of equal length, and a number v of a run becomes the integer q
/// from 0 to 255 for which offset + q · scale is nearest: offset is the run's least number, scale 1/255 of its range. A
/// run that holds an infinity or a NaN has a scale of NaN. Strides are elements. Nothing is owned.
struct QuantizeArguments {
  const float* x = nullptr;  // [rows, width]
  std::size_t x_stride = 0;
  const float* smoothing = nullptr;  // [width], or null: 1
  void* words = nullptr;             // [rows, words_stride] words; a run begins with a word, which zeros fill up
  std::size_t words_stride = 0;
  float* scales = nullptr;   // [rows, runs]
  float* offsets = nullptr;  // [rows, runs]
  std::size_t rows = 0;
  std::size_t width = 0;
  std::size_t runs = 1;             // divides width
  WordKind kind = WordKind::bytes;  // or shorts
  std::size_t scales_stride = 0;    // from a row's scales, and offsets, to the next one's; 0: runs
  std::size_t rotation = 0;         // as tensor::rotate's length, which divides that of a run; 0: none
  float* rotated = nullptr;         // memory for kRotatedRuns runs
};

/// Words of a row.
std::size_t quantized_row_words(std::size_t width, std::size_t runs, WordKind kind);

/// Rows [begin, end) of these.
QuantizeArguments rows_to_quantize(const QuantizeArguments& arguments, std::size_t begin, std::size_t end);

/// One run of all rows.
QuantizeArguments run_to_quantize(const QuantizeArguments& arguments, std::size_t run);

/// Gives the arguments the calling thread's own memory for rotated runs, where they rotate. Throws resource_exhausted.
void take_rotation_scratch(QuantizeArguments& arguments);

/// A run's integers depend on that run alone, and are the same with every instruction set.
void quantize_rows(const QuantizeArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                   const Kernels& set = kernels());

}  // namespace alate::cpu
