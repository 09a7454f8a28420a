// Rows that have become integers of 8 bits, as products of integers read them from a slot or from scratch: the words of
// a row, then what its runs' integers mean.
#pragma once

#include <cstddef>

#include "alate/tensor.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "backends/cpu/kernels/quantize/quantize_rows.h"

namespace alate::cpu {

/// The type of slots of such rows, [rows, stride].
constexpr DType kIntegerRowsType = DType::u32;

/// How a row of `width` numbers in `runs` of equal length lies in memory: [words | a scale a run | an offset a run], of
/// 4 bytes each.
struct IntegerRows {
  std::size_t width, runs;

  std::size_t words() const { return quantized_row_words(width, runs, kernels().integers.kind); }
  std::size_t stride() const { return words() + 2 * runs; }
};

/// Where quantize_rows puts such rows, the first of which is at `memory`. What they are made of is the caller's to say.
inline QuantizeArguments integers_in(const IntegerRows& rows, std::byte* memory) {
  QuantizeArguments integers;
  integers.words = memory;
  integers.words_stride = integers.scales_stride = rows.stride();
  integers.scales = reinterpret_cast<float*>(memory) + rows.words();
  integers.offsets = integers.scales + rows.runs;
  integers.width = rows.width;
  integers.runs = rows.runs;
  integers.kind = kernels().integers.kind;
  return integers;
}

}  // namespace alate::cpu
