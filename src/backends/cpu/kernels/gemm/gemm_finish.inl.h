// The GEMM epilogue: scales and offsets of integers, bias, activation and residual, for the one instruction set that
// the including file is compiled for. Everything here has internal linkage.
#pragma once

#include "backends/cpu/kernels/elementwise/vector_math.inl.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/rows/bf16_rows.inl.h"
#include "backends/cpu/kernels/vectors/row_sum.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

constexpr FloatTag kFloats;
constexpr hn::RebindToSigned<FloatTag> kLaneIntegers;
constexpr std::size_t kLanes = HWY_LANES(float);
constexpr std::size_t kCacheLine = 64;  // bytes

// Loads the first `count` lanes, at most a whole vector.
template <class D>
HWY_INLINE hn::Vec<D> load_at_most(D d, const hn::TFromD<D>* p, std::size_t count) {
  return count >= hn::Lanes(d) ? hn::LoadU(d, p) : load_first(d, p, count);
}

// Where a column is stored, relative to the start of C's row.
struct StoredColumn {
  std::size_t offset;
  std::size_t left;  // columns left in its block, including it
};

HWY_INLINE StoredColumn stored_column(const GemmArguments& g, std::size_t column) {
  if (g.column_block == 0) return {column, ~std::size_t{0}};
  const std::size_t within = column % g.column_block;
  return {column / g.column_block * g.block_stride + within, g.column_block - within};
}

// Advances by `count` columns: kColumnBlockUnit or a part of it, so that no step crosses the end of a block.
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
  std::size_t column, columns;  // columns: valid ones; the tile in memory is `width` wide
  std::size_t width;
  StoredColumn stored;  // the first column
};

constexpr bool is_of_integers(WordKind kind) { return kind == WordKind::bytes || kind == WordKind::shorts; }

// Whether products of such words can store bf16.
constexpr bool may_round(WordKind kind) { return kind == WordKind::bf16; }

#ifdef __AVX512BF16__
// Stores the first `count` lanes as the nearest bf16. Subnormals become zeros, as bf16 products flush them anyway.
HWY_INLINE void store_rounded(FloatVector x, std::uint16_t* to, std::size_t count) {
  const hn::Rebind<std::uint16_t, FloatTag> half;
  hn::Vec<decltype(half)> rounded;
  __asm__("vcvtneps2bf16 %1, %0" : "=v"(rounded.raw) : "v"(x.raw));  // in assembly: see gemm_avx512_bf16.cpp
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

// Factors for the sums of one group in some columns: ones where the columns have one scale for all groups, which is
// applied at the end.
HWY_INLINE FloatVector group_scales(const IntegerScales& scales, std::size_t n, std::size_t group, std::size_t column,
                                    std::size_t count) {
  if (!scales.has_group_column_scales) return hn::Set(kFloats, 1.0f);
  return load_at_most(kFloats, scales.column_scales + group * n + column, count);
}

// Factors for the offsets of one group in some of a tile's columns: the columns' sums, scaled.
HWY_INLINE FloatVector offset_factors(const GemmArguments& g, const TilePlace& place, std::size_t group,
                                      std::size_t column) {
  const std::size_t first = place.column + column, count = place.columns - column;
  return hn::Mul(load_at_most(kFloats, g.scales.column_sums + group * g.n + first, count),
                 group_scales(g.scales, g.n, group, first, count));
}

// Adds the offsets of groups [first_group, first_group + kGroups) times the columns' sums to a tile of integer sums.
template <std::size_t kGroups>
HWY_NOINLINE void add_offsets(const GemmArguments& g, const TilePlace& place, std::size_t first_group,
                              float* HWY_RESTRICT tile) {
  const IntegerScales& scales = g.scales;
  for (std::size_t column = 0; column < place.columns; column += kLanes) {
    FloatVector sums[kGroups];
    HWY_UNROLL(4)
    for (std::size_t group = 0; group < kGroups; ++group)
      sums[group] = offset_factors(g, place, first_group + group, column);
    const float* offsets = scales.row_offsets + place.row * scales.row_stride + first_group;
    for (std::size_t row = 0; row < place.rows; ++row, offsets += scales.row_stride) {
      float* at = tile + row * place.width + column;
      FloatVector x = hn::Load(kFloats, at);
      HWY_UNROLL(4)
      for (std::size_t group = 0; group < kGroups; ++group)
        x = hn::MulAdd(hn::Set(kFloats, offsets[group]), sums[group], x);
      hn::Store(x, kFloats, at);
    }
  }
}

// The same for all groups from `group` on but the last, which finish_tile adds.
HWY_INLINE void add_offsets_before_last(const GemmArguments& g, const TilePlace& place, std::size_t group,
                                        float* tile) {
  const std::size_t end = g.scales.groups - 1;
  for (; group + 4 <= end; group += 4) add_offsets<4>(g, place, group, tile);
  if (end - group == 3) return add_offsets<3>(g, place, group, tile);
  if (end - group == 2) return add_offsets<2>(g, place, group, tile);
  if (end - group == 1) add_offsets<1>(g, place, group, tile);
}

// Contents of a tile before the epilogue.
enum class TileSums {
  floats,
  whole,   // integers, of a product with one group, whose column scales are applied at the end
  scaled,  // integer sums with row scales and the offsets of all groups but the last applied
};

// The epilogue (see finish_tile) for a tile's columns from `column` on: kVectors vectors, or one fewer at the tile's
// end (kIsWhole is false). Values shared by all rows are in variables, because compilers would reload them after each
// store; stores to one cache line are kept together.
template <Activation kActivation, TileSums kTileSums, bool kMayRound, bool kSums, std::size_t kVectors, bool kIsWhole>
HWY_INLINE void finish_columns(const GemmArguments& g, const TilePlace& place, const float* HWY_RESTRICT tile,
                               std::size_t column, const StoredColumn& stored) {
  static_assert(kIsWhole || kVectors == 1);
  constexpr bool kIsOfIntegers = kTileSums != TileSums::floats;
  constexpr Accuracy kAccuracy = kIsOfIntegers || kMayRound ? Accuracy::coarse : Accuracy::fine;
  const std::size_t first = place.column + column, count = kIsWhole ? kLanes : place.columns - column;
  const auto load = [&](const float* from) HWY_ATTR __attribute__((always_inline)) {
    if constexpr (kIsWhole) return hn::LoadU(kFloats, from);
    return load_at_most(kFloats, from, count);
  };
  const std::size_t rows = place.rows, width = place.width;
  const bool rounds = kMayRound && g.halves != nullptr, has_residual = g.residual != nullptr;
  const std::size_t c_stride = rounds ? g.halves_stride : g.c_stride, residual_stride = g.residual_stride;
  float* to = rounds ? nullptr : g.c + place.row * c_stride + stored.offset;
  std::uint16_t* halves = rounds ? g.halves + place.row * c_stride + first : nullptr;
  const float* residual = has_residual ? g.residual + place.row * residual_stride + first : nullptr;
  float* row_sums = kSums ? g.row_sums + place.row * kSumLanes : nullptr;
  FloatVector bias[kVectors];
  HWY_UNROLL(2)
  for (std::size_t i = 0; i < kVectors; ++i)  // x - 0 has x's bits
    bias[i] = g.bias == nullptr ? hn::Set(kFloats, -0.0f) : load(g.bias + first + i * kLanes);

  const IntegerScales& scales = g.scales;
  const std::size_t row_stride = scales.row_stride, last_group = scales.groups - 1;
  const float *row_scales = nullptr, *row_offsets = nullptr;
  FloatVector column_scales[kVectors], last_sums[kVectors];
  if constexpr (kIsOfIntegers) {
    row_scales = scales.row_scales + place.row * row_stride + last_group;
    row_offsets = scales.row_offsets + place.row * row_stride + last_group;
    HWY_UNROLL(2) for (std::size_t i = 0; i < kVectors; ++i) {
      const std::size_t at = first + i * kLanes;
      column_scales[i] = scales.has_group_column_scales ? hn::Set(kFloats, 1.0f) : load(scales.column_scales + at);
      last_sums[i] = hn::Mul(load(scales.column_sums + last_group * g.n + at),
                             group_scales(scales, g.n, last_group, at, place.columns - column - i * kLanes));
    }
  }
  tile += column;
  for (std::size_t row = 0; row < rows; ++row) {
    FloatVector x[kVectors];
    HWY_UNROLL(2) for (std::size_t i = 0; i < kVectors; ++i) {
      x[i] = hn::Load(kFloats, tile + row * width + i * kLanes);
      if constexpr (kTileSums == TileSums::whole) {
        const FloatVector scale = hn::Set(kFloats, row_scales[row * row_stride]);
        x[i] = hn::Mul(hn::ConvertTo(kFloats, hn::BitCast(kLaneIntegers, x[i])), scale);
      }
      if constexpr (kIsOfIntegers) {
        x[i] = hn::MulAdd(hn::Set(kFloats, row_offsets[row * row_stride]), last_sums[i], x[i]);
        x[i] = hn::MulAdd(x[i], column_scales[i], bias[i]);
      } else {
        x[i] = hn::Add(x[i], bias[i]);
      }
      x[i] = activate<kActivation, kAccuracy>(kFloats, x[i]);
      if (has_residual) x[i] = hn::Add(x[i], load(residual + row * residual_stride + i * kLanes));
    }
    if constexpr (kSums) {
      float* sums = row_sums + row * kSumLanes;
      FloatVector sum = first == 0 ? hn::Zero(kFloats) : hn::LoadU(kFloats, sums);
      HWY_UNROLL(2)
      for (std::size_t i = 0; i < kVectors; ++i)
        sum = hn::Add(sum, kIsWhole ? x[i] : hn::IfThenElseZero(hn::FirstN(kFloats, count), x[i]));
      hn::StoreU(sum, kFloats, sums);
    }
    HWY_UNROLL(2) for (std::size_t i = 0; i < kVectors; ++i) {
      if (rounds) {
        store_rounded(x[i], halves + row * c_stride + i * kLanes, count);
      } else if (count >= kLanes) {
        hn::StoreU(x[i], kFloats, to + row * c_stride + i * kLanes);
      } else {
        store_first(x[i], kFloats, to + row * c_stride, count);
      }
    }
  }
}

// Turns the sums in a tile into results and stores them, in one pass while the tile is in the L1 cache: integer sums
// get their missing scales and offsets times column sums.
template <Activation kActivation, TileSums kTileSums, bool kMayRound, bool kSums = false>
HWY_NOINLINE void finish_tile(const GemmArguments& g, const TilePlace& place, const float* HWY_RESTRICT tile) {
  constexpr std::size_t kPair = 2 * kLanes;
  static_assert(kColumnBlockUnit % kPair == 0 || kColumnBlockUnit == kLanes);
  StoredColumn stored = place.stored;
  std::size_t column = 0;
  for (; column + kPair <= place.columns && stored.left >= kPair; column += kPair) {
    finish_columns<kActivation, kTileSums, kMayRound, kSums, 2, true>(g, place, tile, column, stored);
    advance(g, kLanes, stored);
    advance(g, kLanes, stored);
  }
  for (; column < place.columns; column += kLanes) {
    finish_columns<kActivation, kTileSums, kMayRound, kSums, 1, false>(g, place, tile, column, stored);
    advance(g, kLanes, stored);
  }
}

using FinishTile = void (*)(const GemmArguments&, const TilePlace&, const float* tile);

template <WordKind kKind, TileSums kTileSums>
FinishTile find_finish(const GemmArguments& g) {
  constexpr bool kRounds = may_round(kKind);
  if (g.row_sums != nullptr) return finish_tile<Activation::none, kTileSums, false, true>;
  switch (g.activation) {
    case Activation::none: break;
    case Activation::relu: return finish_tile<Activation::relu, kTileSums, kRounds>;
    case Activation::gelu_erf: return finish_tile<Activation::gelu_erf, kTileSums, kRounds>;
    case Activation::gelu_tanh: return finish_tile<Activation::gelu_tanh, kTileSums, kRounds>;
    case Activation::silu: return finish_tile<Activation::silu, kTileSums, kRounds>;
    case Activation::tanh: return finish_tile<Activation::tanh, kTileSums, kRounds>;
    case Activation::sigmoid: return finish_tile<Activation::sigmoid, kTileSums, kRounds>;
    case Activation::quick_gelu: return finish_tile<Activation::quick_gelu, kTileSums, kRounds>;
  }
  return finish_tile<Activation::none, kTileSums, kRounds>;
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
