// Products of stored rows of small integers with one vector: exact, and bound by reading the rows once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/vectors/kernel_set.h"

namespace alate::cpu {

/// Rows of bytes, [rows, width] with m_stride bytes between rows, and a vector of 16-bit integers. Nothing is owned;
/// out overlaps nothing.
struct ByteRowArguments {
  const std::int8_t* m = nullptr;
  std::size_t m_stride = 0;
  const std::int16_t* x = nullptr;
  std::int32_t* out = nullptr;
  std::size_t rows = 0;
  std::size_t width = 0;
};

/// The largest |x| for which dot_byte_rows is exact at this width: width · 128 · |x| stays below 2³¹, and |x| is a
/// 16-bit integer. 0 where there is none (width above 2²⁴).
constexpr std::int32_t largest_byte_row_factor(std::size_t width) {
  constexpr std::size_t kMost = 32767, kSum = 0x7FFFFFFF;
  const std::size_t fits = width == 0 ? kMost : kSum / 128 / width;
  return static_cast<std::int32_t>(fits < kMost ? fits : kMost);
}

/// out[i] = Σ m[i, j] x[j], exactly, on the calling thread. Bytes are widened to 16 bits and multiplied in pairs
/// (vpmaddwd): that is several times as fast as memory delivers rows on processors without VNNI already, and leaves x
/// 16 bits where VNNI's products of bytes would leave it 8. REQUIRES: |x[j]| <= largest_byte_row_factor(width).
void dot_byte_rows(const ByteRowArguments& arguments, const Kernels& set = kernels());

/// out[i] = the number of bits in which row i of m, [rows, words], differs from x, [words]; on the calling thread. m
/// needs no alignment.
void bit_differences(const std::uint8_t* m, const std::uint64_t* x, std::size_t words, std::size_t rows,
                     std::uint32_t* out);

}  // namespace alate::cpu
