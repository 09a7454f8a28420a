// Quantization of f32 rows to 8 bits, packed into words for integer products.
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "backends/cpu/kernels/vectors/word_kind.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// A rotation's length is a multiple of this and a power of two.
constexpr std::size_t kLeastRotation = 128;
/// Groups that are held rotated at a time.
constexpr std::size_t kRotatedGroups = 4;

/// Each row of x · smoothing, rotated, is cut into `groups` groups of equal size. A number v of a group becomes the
/// integer q from 0 to 255 for which offset + q · scale is nearest: offset is the group's minimum, scale 1/255 of its
/// range. A group with an infinity or a NaN has a scale of NaN. Strides count elements. Nothing is owned.
struct QuantizeArguments {
  const float* x = nullptr;  // [rows, width]
  std::size_t x_stride = 0;
  const float* smoothing = nullptr;  // [width], or null: 1
  void* words = nullptr;  // [rows, words_stride] words; a group begins at a word, and its last is padded with zeros
  std::size_t words_stride = 0;
  float* scales = nullptr;   // [rows, groups]
  float* offsets = nullptr;  // [rows, groups]
  std::size_t rows = 0;
  std::size_t width = 0;
  std::size_t groups = 1;           // groups per row; divides width
  WordKind kind = WordKind::bytes;  // or shorts
  std::size_t scales_stride = 0;    // between rows of scales and of offsets; 0: groups
  std::size_t rotation = 0;         // the length for tensor::rotate; divides the group size; 0: none
  float* rotated = nullptr;         // memory for kRotatedGroups groups
};

/// Words per row.
std::size_t quantized_row_words(std::size_t width, std::size_t groups, WordKind kind);

/// The arguments for rows [begin, end).
QuantizeArguments rows_to_quantize(const QuantizeArguments& arguments, std::size_t begin, std::size_t end);

/// The arguments for one group of all rows.
QuantizeArguments group_to_quantize(const QuantizeArguments& arguments, std::size_t group);

/// Sets `rotated` to the calling thread's own scratch where there is a rotation. Throws resource_exhausted.
void take_rotation_scratch(QuantizeArguments& arguments);

/// A group's integers depend only on that group, and are the same with every instruction set.
void quantize_rows(const QuantizeArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                   const Kernels& set = kernels());

}  // namespace alate::cpu
