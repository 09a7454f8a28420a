// Matrix transposition in registers: in blocks of as many rows as 128 bits have elements, and for floats in whole
// vectors where these are wider.
#pragma once

#include <hwy/cache_control.h>

#include "backends/cpu/kernels/moving/transpose.h"
#include "backends/cpu/kernels/vectors/simd.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// Transposes the 4 x 4 block of each 128 bits: out[k] has, at 4b + r, what row r has at 4b + k.
template <class D, class V>
HWY_INLINE void transpose_blocks(D d, const V (&rows)[4], V (&out)[4]) {
  const hn::RepartitionToWide<D> pairs;
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, rows[0], rows[1]));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, rows[2], rows[3]));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, rows[0], rows[1]));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, rows[2], rows[3]));
  out[0] = hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23));
  out[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23));
  out[2] = hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23));
  out[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23));
}

/// Transposes a tile of lanes x lanes 32-bit elements, for vectors of 4, 8 or 16 lanes: calls store(column, vector) for
/// each column of the rows that load(row) returns.
template <class D, class Load, class Store>
HWY_INLINE void transpose_square(D d, const Load& load, const Store& store) {
  using V = hn::Vec<D>;
  constexpr std::size_t kWidth = hn::MaxLanes(d);
  V blocks[kWidth / 4][4];  // blocks[g][k]: at 4b + r, row 4g + r at column 4b + k
  for (std::size_t g = 0; g < kWidth / 4; ++g) {
    const V rows[4] = {load(4 * g), load(4 * g + 1), load(4 * g + 2), load(4 * g + 3)};
    transpose_blocks(d, rows, blocks[g]);
  }
  for (std::size_t k = 0; k < 4; ++k) {
    if constexpr (kWidth == 4) {
      store(k, blocks[0][k]);
    } else if constexpr (kWidth == 8) {
      store(k, hn::ConcatLowerLower(d, blocks[1][k], blocks[0][k]));
      store(4 + k, hn::ConcatUpperUpper(d, blocks[1][k], blocks[0][k]));
    } else if constexpr (kWidth == 16) {
      const V even_low = hn::ConcatLowerLower(d, blocks[2][k], blocks[0][k]);
      const V even_high = hn::ConcatUpperUpper(d, blocks[2][k], blocks[0][k]);
      const V odd_low = hn::ConcatLowerLower(d, blocks[3][k], blocks[1][k]);
      const V odd_high = hn::ConcatUpperUpper(d, blocks[3][k], blocks[1][k]);
      store(k, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(odd_low), even_low));
      store(4 + k, hn::OddEvenBlocks(odd_low, hn::SwapAdjacentBlocks(even_low)));
      store(8 + k, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(odd_high), even_high));
      store(12 + k, hn::OddEvenBlocks(odd_high, hn::SwapAdjacentBlocks(even_high)));
    }
  }
}

/// Transposes a tile of at most lanes x lanes floats, for vectors of 8 or 16 lanes; partial tiles need kPartial. kFill
/// pads the last vector of rows with zeros.
template <bool kPartial, bool kFill>
HWY_INLINE void transpose_tile(const float* HWY_RESTRICT in, std::size_t in_stride, float* HWY_RESTRICT out,
                               std::size_t out_stride, std::size_t rows, std::size_t columns, FloatVector factors) {
  const FloatTag d;
  const auto load = [&](std::size_t row) HWY_ATTR {
    const float* from = in + row * in_stride;
    if constexpr (kPartial) {
      return hn::Mul(row < rows ? load_first(d, from, columns) : hn::Zero(d), factors);
    } else {
      return hn::Mul(hn::LoadU(d, from), factors);
    }
  };
  const auto store = [&](std::size_t column, FloatVector v) HWY_ATTR {
    float* to = out + column * out_stride;
    if constexpr (kPartial) {
      if (column >= columns) return;
      if constexpr (kFill) {
        hn::StoreU(v, d, to);
      } else {
        store_first(v, d, to, rows);
      }
    } else {
      hn::StoreU(v, d, to);
    }
  };
  transpose_square(d, load, store);
}

/// As transpose_scaled, with 4 x 4 blocks in 128-bit vectors and plain loops at the edges.
HWY_INLINE void transpose_scaled_narrow(const float* HWY_RESTRICT in, std::size_t in_stride, float* HWY_RESTRICT out,
                                        std::size_t out_stride, std::size_t rows, std::size_t columns, float factor) {
  const hn::FixedTag<float, 4> d;
  using Vector = hn::Vec<decltype(d)>;
  const Vector factors = hn::Set(d, factor);
  std::size_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    const float* from = in + i * in_stride;
    std::size_t j = 0;
    for (; j + 4 <= columns; j += 4) {
      Vector loaded[4];
      Vector transposed[4];
      for (std::size_t r = 0; r < 4; ++r) loaded[r] = hn::Mul(hn::LoadU(d, from + r * in_stride + j), factors);
      transpose_blocks(d, loaded, transposed);
      for (std::size_t k = 0; k < 4; ++k) hn::StoreU(transposed[k], d, out + (j + k) * out_stride + i);
    }
    for (; j < columns; ++j) {
      for (std::size_t k = 0; k < 4; ++k) out[j * out_stride + i + k] = from[k * in_stride + j] * factor;
    }
  }
  for (; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) out[j * out_stride + i] = in[i * in_stride + j] * factor;
  }
}

/// Whether transpose_scaled can zero-pad the last vector of rows.
constexpr bool kTransposeFills = kMaskedMemory && (hn::MaxLanes(FloatTag()) == 8 || hn::MaxLanes(FloatTag()) == 16);

/// out[j * out_stride + i] = in[i * in_stride + j] * factor for i < rows, j < columns. The areas do not overlap. With
/// kFill (only where kTransposeFills) zeros follow up to the next multiple of a vector.
template <bool kFill>
inline void transpose_scaled(const float* HWY_RESTRICT in, std::size_t in_stride, float* HWY_RESTRICT out,
                             std::size_t out_stride, std::size_t rows, std::size_t columns, float factor) {
  const FloatTag d;
  constexpr std::size_t kWidth = hn::MaxLanes(d);
  if constexpr (kWidth != 8 && kWidth != 16) {
    transpose_scaled_narrow(in, in_stride, out, out_stride, rows, columns, factor);
  } else {
    const FloatVector factors = hn::Set(d, factor);
    for (std::size_t i = 0; i < rows; i += kWidth) {
      const std::size_t tile_rows = rows - i < kWidth ? rows - i : kWidth;
      for (std::size_t j = 0; j < columns; j += kWidth) {
        const std::size_t tile_columns = columns - j < kWidth ? columns - j : kWidth;
        const float* from = in + i * in_stride + j;
        float* to = out + j * out_stride + i;
        if (tile_rows == kWidth && tile_columns == kWidth) {
          transpose_tile<false, false>(from, in_stride, to, out_stride, kWidth, kWidth, factors);
        } else if constexpr (kMaskedMemory) {
          transpose_tile<true, kFill>(from, in_stride, to, out_stride, tile_rows, tile_columns, factors);
        } else {
          transpose_scaled_narrow(from, in_stride, to, out_stride, tile_rows, tile_columns, factor);
        }
      }
    }
  }
}

/// Transposes leftover rows and columns that fill no tile.
template <typename T>
HWY_INLINE void transpose_elements(const T* HWY_RESTRICT in, std::size_t in_stride, T* HWY_RESTRICT out,
                                   std::size_t out_stride, std::size_t rows, std::size_t columns) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) out[j * out_stride + i] = in[i * in_stride + j];
  }
}

/// The same without a factor, for any 32-bit elements: no bit changes, not even of a signalling NaN. Works in tiles of
/// whole vectors (cache lines, where vectors are widest), each read and written once. kStreams bypasses the caches and
/// needs rows of `out` aligned to vectors.
template <bool kStreams>
inline void transpose_32(const std::uint32_t* HWY_RESTRICT in, std::size_t in_stride, std::uint32_t* HWY_RESTRICT out,
                         std::size_t out_stride, std::size_t rows, std::size_t columns) {
  constexpr std::size_t kWidth = hn::MaxLanes(FloatTag()) == 16 ? 16 : hn::MaxLanes(FloatTag()) == 8 ? 8 : 4;
  const hn::FixedTag<std::uint32_t, kWidth> d;
  using Vector = hn::Vec<decltype(d)>;
  // Bands of rows for narrow vectors: lines that a band reads stay in L1 until the band's next columns need them.
  constexpr std::size_t kBand = kWidth == 16 ? 16 : 64;
  for (std::size_t band = 0; band < rows; band += kBand) {
    const std::size_t band_end = rows - band < kBand ? rows : band + kBand;
    const std::size_t whole_rows = (band_end - band) / kWidth * kWidth;
    std::size_t j = 0;
    for (; j + kWidth <= columns; j += kWidth) {
      for (std::size_t i = band; i < band + whole_rows; i += kWidth) {
        const auto load = [&](std::size_t row) HWY_ATTR { return hn::LoadU(d, in + (i + row) * in_stride + j); };
        const auto store = [&](std::size_t column, Vector v) HWY_ATTR {
          std::uint32_t* to = out + (j + column) * out_stride + i;
          if constexpr (kStreams)
            hn::Stream(v, d, to);
          else
            hn::StoreU(v, d, to);
        };
        if constexpr (kWidth == 4) {
          const Vector loaded[4] = {load(0), load(1), load(2), load(3)};
          Vector transposed[4];
          transpose_blocks(d, loaded, transposed);
          for (std::size_t k = 0; k < 4; ++k) store(k, transposed[k]);
        } else {
          transpose_square(d, load, store);
        }
      }
    }
    const std::size_t i = band + whole_rows;
    transpose_elements(in + band * in_stride + j, in_stride, out + j * out_stride + band, out_stride, whole_rows,
                       columns - j);
    transpose_elements(in + i * in_stride, in_stride, out + i, out_stride, band_end - i, columns);
  }
  if constexpr (kStreams) hwy::FlushStream();
}

/// For results that are too large for the caches.
inline void transpose_32_streamed(const std::uint32_t* HWY_RESTRICT in, std::size_t in_stride,
                                  std::uint32_t* HWY_RESTRICT out, std::size_t out_stride, std::size_t rows,
                                  std::size_t columns) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  const bool has_whole_vectors =
      reinterpret_cast<std::uintptr_t>(out) % (lanes * sizeof(float)) == 0 && out_stride % lanes == 0;
  (has_whole_vectors ? transpose_32<true> : transpose_32<false>)(in, in_stride, out, out_stride, rows, columns);
}

/// The same for elements of 8, 16 or 64 bits. Vector k of a block and the one half a block later, interleaved, become
/// vectors 2k and 2k + 1 of the next round; after log2(block) rounds, columns are rows.
template <typename T>
inline void transpose_lanes(const T* HWY_RESTRICT in, std::size_t in_stride, T* HWY_RESTRICT out,
                            std::size_t out_stride, std::size_t rows, std::size_t columns) {
  constexpr std::size_t kBlock = 16 / sizeof(T), kBand = 64;
  const hn::FixedTag<T, kBlock> d;
  using Vector = hn::Vec<decltype(d)>;
  for (std::size_t band = 0; band < rows; band += kBand) {
    const std::size_t band_end = rows - band < kBand ? rows : band + kBand;
    std::size_t j = 0;
    for (; j + kBlock <= columns; j += kBlock) {
      std::size_t i = band;
      for (; i + kBlock <= band_end; i += kBlock) {
        const T* from = in + i * in_stride + j;
        Vector block[kBlock], next[kBlock];
#pragma GCC unroll 16
        for (std::size_t r = 0; r < kBlock; ++r) block[r] = hn::LoadU(d, from + r * in_stride);
#pragma GCC unroll 4
        for (std::size_t round = 1; round < kBlock; round *= 2) {
#pragma GCC unroll 8
          for (std::size_t k = 0; k < kBlock / 2; ++k) {
            next[2 * k] = hn::InterleaveLower(d, block[k], block[k + kBlock / 2]);
            next[2 * k + 1] = hn::InterleaveUpper(d, block[k], block[k + kBlock / 2]);
          }
#pragma GCC unroll 16
          for (std::size_t k = 0; k < kBlock; ++k) block[k] = next[k];
        }
#pragma GCC unroll 16
        for (std::size_t k = 0; k < kBlock; ++k) hn::StoreU(block[k], d, out + (j + k) * out_stride + i);
      }
      for (; i < band_end; ++i) {
        for (std::size_t k = 0; k < kBlock; ++k) out[(j + k) * out_stride + i] = in[i * in_stride + j + k];
      }
    }
    for (; j < columns; ++j) {
      for (std::size_t i = band; i < band_end; ++i) out[j * out_stride + i] = in[i * in_stride + j];
    }
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
