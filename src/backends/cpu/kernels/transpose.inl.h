// Matrix transposition of f32 by 4 x 4 blocks, and a plain one for other element sizes.
#pragma once

#include "backends/cpu/kernels/simd.inl.h"
#include "backends/cpu/kernels/transpose.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// out[j * out_stride + i] = in[i * in_stride + j] * factor for i < rows, j < columns. The areas do not overlap.
HWY_INLINE void transpose_scaled(const float* HWY_RESTRICT in, std::size_t in_stride, float* HWY_RESTRICT out,
                                 std::size_t out_stride, std::size_t rows, std::size_t columns, float factor) {
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<double, 2> pairs;
  const auto factors = hn::Set(d, factor);
  std::size_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    const float* from = in + i * in_stride;
    std::size_t j = 0;
    for (; j + 4 <= columns; j += 4) {
      const auto row0 = hn::Mul(hn::LoadU(d, from + j), factors);
      const auto row1 = hn::Mul(hn::LoadU(d, from + in_stride + j), factors);
      const auto row2 = hn::Mul(hn::LoadU(d, from + 2 * in_stride + j), factors);
      const auto row3 = hn::Mul(hn::LoadU(d, from + 3 * in_stride + j), factors);
      const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, row0, row1));
      const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, row2, row3));
      const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row0, row1));
      const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row2, row3));
      float* to = out + j * out_stride + i;
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + out_stride);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + 2 * out_stride);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + 3 * out_stride);
    }
    for (; j < columns; ++j) {
      for (std::size_t k = 0; k < 4; ++k) out[j * out_stride + i + k] = from[k * in_stride + j] * factor;
    }
  }
  for (; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) out[j * out_stride + i] = in[i * in_stride + j] * factor;
  }
}

/// The same without a factor, for any 32-bit elements: no bit changes, not even of a signalling NaN.
inline void transpose_32(const std::uint32_t* HWY_RESTRICT in, std::size_t in_stride, std::uint32_t* HWY_RESTRICT out,
                         std::size_t out_stride, std::size_t rows, std::size_t columns) {
  const hn::FixedTag<std::uint32_t, 4> d;
  const hn::FixedTag<std::uint64_t, 2> pairs;
  // Bands of 64 rows: what a band reads of a cache line stays in L1 until the band's next four columns want it.
  constexpr std::size_t kBand = 64;
  for (std::size_t band = 0; band < rows; band += kBand) {
    const std::size_t band_end = rows - band < kBand ? rows : band + kBand;
    std::size_t j = 0;
    for (; j + 4 <= columns; j += 4) {
      std::size_t i = band;
      for (; i + 4 <= band_end; i += 4) {
        const std::uint32_t* from = in + i * in_stride + j;
        const auto row0 = hn::LoadU(d, from);
        const auto row1 = hn::LoadU(d, from + in_stride);
        const auto row2 = hn::LoadU(d, from + 2 * in_stride);
        const auto row3 = hn::LoadU(d, from + 3 * in_stride);
        const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, row0, row1));
        const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, row2, row3));
        const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row0, row1));
        const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row2, row3));
        std::uint32_t* to = out + j * out_stride + i;
        hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to);
        hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + out_stride);
        hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + 2 * out_stride);
        hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + 3 * out_stride);
      }
      for (; i < band_end; ++i) {
        for (std::size_t k = 0; k < 4; ++k) out[(j + k) * out_stride + i] = in[i * in_stride + j + k];
      }
    }
    for (; j < columns; ++j) {
      for (std::size_t i = band; i < band_end; ++i) out[j * out_stride + i] = in[i * in_stride + j];
    }
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
