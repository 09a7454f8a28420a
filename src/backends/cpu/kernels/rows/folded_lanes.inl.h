// Horizontal folds of four vectors at a time: the four results form one small vector, so that the divisions and roots
// that follow are computed once.
#pragma once

#include "backends/cpu/kernels/moving/transpose.inl.h"
#include "backends/cpu/kernels/vectors/simd.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

constexpr std::size_t kFolded = 4;
using FoldedTag = hn::FixedTag<float, kFolded>;
using Folded = hn::Vec<FoldedTag>;

/// Folds all blocks of 128 bits into one, by halves.
template <class D, class Fold>
HWY_INLINE Folded folded_blocks(D d, hn::Vec<D> v, const Fold& fold) {
  if constexpr (hn::MaxLanes(d) == kFolded) {
    return v;
  } else {
    const hn::Half<D> half;
    return folded_blocks(half, fold(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), fold);
  }
}

/// Folds each vector's lanes in the fastest order, for folds whose order does not matter.
template <class Fold>
HWY_INLINE Folded folded_lanes(const FloatVector (&vectors)[kFolded], const Fold& fold) {
  const FloatTag d;
  FloatVector across[kFolded];
  transpose_blocks(d, vectors, across);
  return folded_blocks(d, fold(fold(across[0], across[1]), fold(across[2], across[3])), fold);
}

/// Folds in the order of combine_lanes (row_sum.inl.h): by halves.
template <class Fold>
HWY_INLINE Folded folded_by_halves(const FloatVector (&vectors)[kFolded], const Fold& fold) {
  const FloatTag d;
  const FoldedTag four;
  const Folded blocks[kFolded] = {folded_blocks(d, vectors[0], fold), folded_blocks(d, vectors[1], fold),
                                  folded_blocks(d, vectors[2], fold), folded_blocks(d, vectors[3], fold)};
  Folded across[kFolded];
  transpose_blocks(four, blocks, across);
  return fold(fold(across[0], across[2]), fold(across[1], across[3]));
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
