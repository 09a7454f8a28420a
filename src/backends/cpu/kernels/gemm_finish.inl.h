// How the sums in a tile of a matrix product become results: scales and offsets of integers, bias, activation and
// residual, for the one instruction set that the including file is compiled for. Everything here has internal linkage.
#pragma once

#include "backends/cpu/kernels/bf16_rows.inl.h"
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/row_sum.inl.h"
#include "backends/cpu/kernels/vector_math.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

constexpr FloatTag kFloats;
constexpr hn::RebindToSigned<FloatTag> kLaneIntegers;
constexpr std::size_t kLanes = HWY_LANES(float);
constexpr std::size_t kCacheLine = 64;  // bytes

// The first `count` of a vector's lanes, all where there are as many.
template <class D>
HWY_INLINE hn::Vec<D> load_at_most(D d, const hn::TFromD<D>* p, std::size_t count) {
  return count >= hn::Lanes(d) ? hn::LoadU(d, p) : load_first(d, p, count);
}

// Where a column is stored, from the first of the row of C.
struct StoredColumn {
  std::size_t offset;
  std::size_t left;  // columns of its block from it on
};

HWY_INLINE StoredColumn stored_column(const GemmArguments& g, std::size_t column) {
  if (g.column_block == 0) return {column, ~std::size_t{0}};
  const std::size_t within = column % g.column_block;
  return {column / g.column_block * g.block_stride + within, g.column_block - within};
}

// Goes `count` columns on: kColumnBlockUnit or a part of it, so that it goes past no block's end.
HWY_INLINE void advance(const GemmArguments& g, std::size_t count, StoredColumn& column) {
  static_assert(kColumnBlockUnit % kLanes == 0);
  column.offset += count;
  column.left -= count;
  if (column.left != 0) return;
  column.offset += g.block_stride - g.column_block;
  column.left = g.column_block;
}

// Where a tile lies in C.
struct TilePlace {
  std::size_t row, rows;
  std::size_t column, columns;  // those that exist; the tile in memory is `width` wide
  std::size_t width;
  StoredColumn stored;  // the first column
};

constexpr bool is_of_integers(WordKind kind) { return kind == WordKind::bytes || kind == WordKind::shorts; }

// Whether a product of such words may store bf16.
constexpr bool may_round(WordKind kind) { return kind == WordKind::bf16; }

#ifdef __AVX512BF16__
// The first `count` of the nearest bf16. Zeros of subnormals, which products of bf16 take for zeros anyway.
HWY_INLINE void store_rounded(FloatVector x, std::uint16_t* to, std::size_t count) {
  const hn::Rebind<std::uint16_t, FloatTag> half;
  hn::Vec<decltype(half)> rounded;
  __asm__("vcvtneps2bf16 %1, %0" : "=v"(rounded.raw) : "v"(x.raw));  // as assembly: see gemm_avx512_bf16.cpp
  if (count >= kLanes)
    hn::StoreU(rounded, half, to);
  else
    store_first(rounded, half, to, count);
}
#else
HWY_INLINE void store_rounded(FloatVector x, std::uint16_t* to, std::size_t count) { store_halves(x, to, count); }
#endif

template <bool kMayRound>
HWY_INLINE void prefetch_outputs(const GemmArguments& g, const TilePlace& place) {
  constexpr std::size_t kLineFloats = kCacheLine / sizeof(float);
  StoredColumn stored = place.stored;
  for (std::size_t column = place.column; column < place.column + place.columns; column += kLineFloats) {
    const bool rounds = kMayRound && g.halves != nullptr;
    const auto* c = rounds ? reinterpret_cast<const std::byte*>(g.halves + place.row * g.halves_stride + column)
                           : reinterpret_cast<const std::byte*>(g.c + place.row * g.c_stride + stored.offset);
    const std::size_t c_stride = rounds ? g.halves_stride * sizeof(std::uint16_t) : g.c_stride * sizeof(float);
    const float* residual = g.residual == nullptr ? nullptr : g.residual + place.row * g.residual_stride + column;
    for (std::size_t row = 0; row < place.rows; ++row) {
      __builtin_prefetch(c + row * c_stride, 1, 3);
      if (residual != nullptr) __builtin_prefetch(residual + row * g.residual_stride, 0, 3);
    }
    advance(g, kLineFloats, stored);
  }
}

// What the sums of one run of some columns are multiplied with: ones where the columns have one scale for all runs,
// with which the whole is multiplied at the end.
HWY_INLINE FloatVector run_scales(const IntegerScales& scales, std::size_t n, std::size_t run, std::size_t column,
                                  std::size_t count) {
  if (!scales.has_column_scales_of_runs) return hn::Set(kFloats, 1.0f);
  return load_at_most(kFloats, scales.column_scales + run * n + column, count);
}

// Adds to a tile of integers' sums the offsets of runs [first_run, first_run + kRuns) times the columns' sums.
template <std::size_t kRuns>
HWY_NOINLINE void add_offsets(const GemmArguments& g, const TilePlace& place, std::size_t first_run,
                              float* HWY_RESTRICT tile) {
  const IntegerScales& scales = g.scales;
  for (std::size_t column = 0; column < place.columns; column += kLanes) {
    FloatVector sums[kRuns];
    HWY_UNROLL(4) for (std::size_t run = 0; run < kRuns; ++run) {
      const float* from = scales.column_sums + (first_run + run) * g.n + place.column + column;
      const FloatVector factors =
          run_scales(scales, g.n, first_run + run, place.column + column, place.columns - column);
      sums[run] = hn::Mul(load_at_most(kFloats, from, place.columns - column), factors);
    }
    const float* offsets = scales.row_offsets + place.row * scales.row_stride + first_run;
    for (std::size_t row = 0; row < place.rows; ++row, offsets += scales.row_stride) {
      float* at = tile + row * place.width + column;
      FloatVector x = hn::Load(kFloats, at);
      HWY_UNROLL(4)
      for (std::size_t run = 0; run < kRuns; ++run) x = hn::MulAdd(hn::Set(kFloats, offsets[run]), sums[run], x);
      hn::Store(x, kFloats, at);
    }
  }
}

// The same for all runs but the last, which finish_tile adds.
HWY_INLINE void add_offsets_before_last(const GemmArguments& g, const TilePlace& place, float* tile) {
  std::size_t run = 0;
  const std::size_t end = g.scales.runs - 1;
  for (; run + 4 <= end; run += 4) add_offsets<4>(g, place, run, tile);
  if (end - run == 3) return add_offsets<3>(g, place, run, tile);
  if (end - run == 2) return add_offsets<2>(g, place, run, tile);
  if (end - run == 1) add_offsets<1>(g, place, run, tile);
}

// Makes results of the sums in a tile and stores them, in one pass while the tile is in the first cache. Sums of
// integers have their rows' scales by now, and the offsets of all runs but the last; that one's offsets times the
// columns' sums are missing, and the columns' scales.
template <Activation kActivation, bool kIsOfIntegers, bool kMayRound, bool kSums = false>
HWY_NOINLINE void finish_tile(const GemmArguments& g, const TilePlace& place, const float* HWY_RESTRICT tile) {
  constexpr Accuracy kAccuracy = kIsOfIntegers || kMayRound ? Accuracy::coarse : Accuracy::fine;
  StoredColumn stored = place.stored;
  for (std::size_t column = 0; column < place.columns; column += kLanes) {
    const std::size_t first = place.column + column, count = place.columns - column;
    const FloatVector bias = g.bias == nullptr ? hn::Zero(kFloats) : load_at_most(kFloats, g.bias + first, count);
    const bool rounds = kMayRound && g.halves != nullptr;
    float* to = rounds ? nullptr : g.c + place.row * g.c_stride + stored.offset;
    std::uint16_t* halves = rounds ? g.halves + place.row * g.halves_stride + first : nullptr;
    advance(g, kLanes, stored);
    const float* residual = g.residual == nullptr ? nullptr : g.residual + place.row * g.residual_stride + first;
    const auto finish = [&](FloatVector x, std::size_t row) HWY_ATTR __attribute__((always_inline)) {
      x = activate<kActivation, kAccuracy>(kFloats, x);
      if (residual != nullptr) x = hn::Add(x, load_at_most(kFloats, residual + row * g.residual_stride, count));
      if constexpr (kSums) {
        float* sums = g.row_sums + (place.row + row) * kSumLanes;
        const FloatVector before = first == 0 ? hn::Zero(kFloats) : hn::LoadU(kFloats, sums);
        const FloatVector added = count >= kLanes ? x : hn::IfThenElseZero(hn::FirstN(kFloats, count), x);
        hn::StoreU(hn::Add(before, added), kFloats, sums);
      }
      if (rounds)
        store_rounded(x, halves + row * g.halves_stride, count);
      else if (count >= kLanes)
        hn::StoreU(x, kFloats, to + row * g.c_stride);
      else
        store_first(x, kFloats, to + row * g.c_stride, count);
    };
    if constexpr (kIsOfIntegers) {
      const IntegerScales& scales = g.scales;
      const FloatVector column_scales = scales.has_column_scales_of_runs
                                            ? hn::Set(kFloats, 1.0f)
                                            : load_at_most(kFloats, scales.column_scales + first, count);
      const FloatVector last_sums =
          hn::Mul(load_at_most(kFloats, scales.column_sums + (scales.runs - 1) * g.n + first, count),
                  run_scales(scales, g.n, scales.runs - 1, first, count));
      for (std::size_t row = 0; row < place.rows; ++row) {
        const float offset = scales.row_offsets[(place.row + row) * scales.row_stride + scales.runs - 1];
        const FloatVector sums = hn::Load(kFloats, tile + row * place.width + column);
        const FloatVector x = hn::MulAdd(hn::Set(kFloats, offset), last_sums, sums);
        // Without a bias, adding its zero makes +0 of -0, a number as good.
        finish(hn::MulAdd(x, column_scales, bias), row);
      }
    } else {
      for (std::size_t row = 0; row < place.rows; ++row) {
        const FloatVector sums = hn::Load(kFloats, tile + row * place.width + column);
        finish(g.bias == nullptr ? sums : hn::Add(sums, bias), row);
      }
    }
  }
}

using FinishTile = void (*)(const GemmArguments&, const TilePlace&, const float* tile);

template <WordKind kKind>
FinishTile find_finish(const GemmArguments& g) {
  constexpr bool kIsOfIntegers = is_of_integers(kKind), kRounds = may_round(kKind);
  if (g.row_sums != nullptr) return finish_tile<Activation::none, kIsOfIntegers, false, true>;
  switch (g.activation) {
    case Activation::none: break;
    case Activation::relu: return finish_tile<Activation::relu, kIsOfIntegers, kRounds>;
    case Activation::gelu_erf: return finish_tile<Activation::gelu_erf, kIsOfIntegers, kRounds>;
    case Activation::gelu_tanh: return finish_tile<Activation::gelu_tanh, kIsOfIntegers, kRounds>;
    case Activation::silu: return finish_tile<Activation::silu, kIsOfIntegers, kRounds>;
    case Activation::tanh: return finish_tile<Activation::tanh, kIsOfIntegers, kRounds>;
    case Activation::sigmoid: return finish_tile<Activation::sigmoid, kIsOfIntegers, kRounds>;
    case Activation::quick_gelu: return finish_tile<Activation::quick_gelu, kIsOfIntegers, kRounds>;
  }
  return finish_tile<Activation::none, kIsOfIntegers, kRounds>;
}

inline void sum_rows(const GemmArguments& g, std::size_t begin, std::size_t end) {
  constexpr std::size_t kRows = 4;
  for (std::size_t first = begin; first < end; first += kRows) {
    const float* rows[kRows];
    FloatVector sums[kRows];
    for (std::size_t i = 0; i < kRows; ++i) rows[i] = g.c + (first + i < end ? first + i : first) * g.c_stride;
    lanes_of_sums(rows, g.n, sums);
    for (std::size_t i = 0; i < kRows && first + i < end; ++i)
      hn::StoreU(sums[i], kFloats, g.row_sums + (first + i) * kSumLanes);
  }
}

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
