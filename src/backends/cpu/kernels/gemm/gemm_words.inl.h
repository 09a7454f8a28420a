// Multiplication and accumulation of a GEMM tile's words in registers, for the one instruction set that the including
// file is compiled for. Everything here has internal linkage.
#pragma once

#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/gemm/gemm_finish.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

// How words are multiplied. A row's word becomes kParts operand vectors, a vector of W's words kParts weight vectors,
// and each part adds one product to every lane. Words and sums are passed as floats, whatever their bits mean. A Weight
// is what W's panels hold per word of A: a word, or a narrower form of one. An integer dot whose operands are less than
// A's gives the difference as kOperandOffset.
struct FloatDot {
  using Weight = float;
  static constexpr WordKind kKind = WordKind::f32;
  static constexpr std::size_t kParts = 1;
  template <std::size_t kPart>
  static HWY_INLINE FloatVector operand(const float* word) {
    return hn::Set(kFloats, *word);
  }
  template <std::size_t kPart>
  static HWY_INLINE FloatVector weights(const float* words) {
    return hn::Load(kFloats, words);
  }
  static HWY_INLINE FloatVector add(FloatVector sum, FloatVector operand, FloatVector weights) {
    return add_product(sum, operand, weights);
  }
};

template <class Dot>
constexpr bool kIsInteger = is_of_integers(Dot::kKind);

// Whether a group's sums lack kOperandOffset times the sums of W's columns, which have less than 24 bits.
template <class Dot>
constexpr bool kHasOperandOffset = requires { Dot::kOperandOffset; };

// The correction for the sums of `count` columns with these column_sums.
template <class Dot>
HWY_INLINE hn::Vec<decltype(kLaneIntegers)> offset_correction(const float* column_sums, std::size_t count) {
  const auto sums = hn::ConvertTo(kLaneIntegers, load_at_most(kFloats, column_sums, count));
  return hn::Mul(sums, hn::Set(kLaneIntegers, Dot::kOperandOffset));
}

// From this k on, a tile takes long enough to prefetch its place in C meanwhile; below it, the prefetches would stall.
constexpr std::size_t kLongK = 128;

// Prefetch distance of a lone strip in its panel: on a Xeon 1.2 to 1.4 times as fast from memory.
constexpr std::size_t kBytesAhead = 8192;

// As x86 addressing reaches p, p + stride and p + 2 stride, three rows share a pointer: one per row would be too many.
template <std::size_t kRows>
constexpr std::size_t kPointers = (kRows + 2) / 3;
template <std::size_t kRows>
using RowPointers = const float * [kPointers<kRows>];

// Adds one part of the products of a word of each row with a word of each column, `offset` words further on.
template <class Dot, std::size_t kPart, std::size_t kVectors, std::size_t kRows, std::size_t kColumns>
HWY_INLINE void add_part(const RowPointers<kRows>& a, std::size_t a_stride, const typename Dot::Weight* panel,
                         std::size_t panel_stride, std::size_t offset, FloatVector (&sums)[kRows][kColumns]) {
  FloatVector w[kColumns];
  HWY_UNROLL(16) for (std::size_t v = 0; v < kColumns; ++v) {
    w[v] = Dot::template weights<kPart>(panel + v / kVectors * panel_stride + offset * kVectors * kLanes +
                                        v % kVectors * kLanes);
  }
  HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
    const FloatVector value = Dot::template operand<kPart>(&a[row / 3][row % 3 * a_stride + offset]);
    HWY_UNROLL(16) for (std::size_t v = 0; v < kColumns; ++v) sums[row][v] = Dot::add(sums[row][v], value, w[v]);
  }
}

template <class Dot, std::size_t kVectors, std::size_t kRows, std::size_t kColumns>
HWY_INLINE void add_word(const RowPointers<kRows>& a, std::size_t a_stride, const typename Dot::Weight* panel,
                         std::size_t panel_stride, std::size_t offset, FloatVector (&sums)[kRows][kColumns]) {
  add_part<Dot, 0, kVectors>(a, a_stride, panel, panel_stride, offset, sums);
  if constexpr (Dot::kParts == 2) add_part<Dot, 1, kVectors>(a, a_stride, panel, panel_stride, offset, sums);
}

// Weights that are needed soon, prefetched into the L2 cache meanwhile.
template <typename Weight>
struct PrefetchPlan {
  const Weight* next;
  std::size_t a_word;  // how many per word of the panel that a strip processes, at most the panel's width
};

// Several strips prefetch what follows their panel of `width` columns, at `next`, in equal shares, so that memory has
// all their time to deliver it. A lone one prefetches its own panel, some lines ahead.
template <typename Weight>
HWY_INLINE PrefetchPlan<Weight> prefetch_for_strips(std::size_t strips, std::size_t width, const Weight* panel,
                                                    const Weight* next) {
  if (strips == 1) return {panel + kBytesAhead / sizeof(Weight), width};
  return {next, (width + strips - 1) / strips};
}

// Adds the products of k words of each row, from `first` on, with those of each column. Advances `panel` and
// `wanted_soon` by what was read and prefetched.
template <class Dot, std::size_t kVectors, bool kIsLone, std::size_t kRows, std::size_t kColumns>
HWY_INLINE void add_words(const float* first, std::size_t a_stride, std::size_t k, const typename Dot::Weight*& panel,
                          std::size_t panel_stride, PrefetchPlan<typename Dot::Weight>& wanted_soon,
                          FloatVector (&sums)[kRows][kColumns]) {
  constexpr std::size_t kPanelWidth = kVectors * kLanes;
  // Compilers add each offset to the rows' strides: with many pointers, no registers are left for more unrolling.
  constexpr std::size_t kUnroll = kPointers<kRows> > 2 ? 2 : 4;
  RowPointers<kRows> a;
  HWY_UNROLL(16) for (std::size_t p = 0; p < kPointers<kRows>; ++p) a[p] = first + 3 * p * a_stride;
  for (; k >= kUnroll; k -= kUnroll) {
    // Several strips need at most half of these lines; if fewer, some are fetched twice.
    HWY_UNROLL(16)
    for (std::size_t i = 0; i < kUnroll * kPanelWidth / (kIsLone ? 1 : 2);
         i += kCacheLine / sizeof(typename Dot::Weight))
      __builtin_prefetch(wanted_soon.next + i, 0, 2);
    wanted_soon.next += kUnroll * wanted_soon.a_word;
    HWY_UNROLL(16) for (std::size_t i = 0; i < kUnroll; ++i) {
      add_word<Dot, kVectors>(a, a_stride, panel, panel_stride, i, sums);
    }
    // Otherwise compilers move sums between sets of registers, and have none left for the last sums.
    HWY_UNROLL(16) for (std::size_t row = 0; row < kRows; ++row) {
      HWY_UNROLL(16) for (std::size_t v = 0; v < kColumns; ++v) sums[row][v] = settled(sums[row][v]);
    }
    HWY_UNROLL(16) for (std::size_t p = 0; p < kPointers<kRows>; ++p) a[p] += kUnroll;
    panel += kUnroll * kPanelWidth;
  }
  for (; k != 0; --k) {
    add_word<Dot, kVectors>(a, a_stride, panel, panel_stride, 0, sums);
    HWY_UNROLL(16) for (std::size_t p = 0; p < kPointers<kRows>; ++p)++ a[p];
    panel += kPanelWidth;
  }
}

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
