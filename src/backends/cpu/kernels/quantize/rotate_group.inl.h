// The Walsh-Hadamard transform of a group, for one instruction set: bit-identical to tensor/rotation.h.
#pragma once

#include "backends/cpu/kernels/quantize/group_statistics.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// Swaps each lane with the one kDistance, a power of two, away.
template <std::size_t kDistance>
HWY_INLINE FloatVector swapped_lanes(FloatVector v) {
  const FloatTag d;
  if constexpr (kDistance == 1)
    return hn::Shuffle2301(v);
  else if constexpr (kDistance == 2)
    return hn::Shuffle1032(v);
  else if constexpr (kDistance == 4)
    return hn::SwapAdjacentBlocks(v);
  else
    return hn::ConcatLowerUpper(d, v, v);
}

/// Butterflies within a vector: the sum of two lanes kDistance apart goes to the lower, their difference to the upper;
/// then recursively for smaller distances.
template <std::size_t kDistance>
HWY_INLINE FloatVector rotated_lanes(FloatVector v) {
  if constexpr (kDistance == 0) {
    return v;
  } else {
    const FloatTag d;
    const hn::RebindToSigned<FloatTag> integers;
    const auto is_lower = hn::Eq(hn::And(hn::Iota(integers, 0), hn::Set(integers, kDistance)), hn::Zero(integers));
    const FloatVector signs = hn::IfThenElse(hn::RebindMask(d, is_lower), hn::Set(d, 1.0f), hn::Set(d, -1.0f));
    return rotated_lanes<kDistance / 2>(hn::MulAdd(v, signs, swapped_lanes<kDistance>(v)));
  }
}

HWY_INLINE void add_and_subtract(FloatVector& a, FloatVector& b) {
  const FloatVector difference = hn::Sub(a, b);
  a = hn::Add(a, b);
  b = difference;
}

/// Vectors that are transformed together in registers.
constexpr std::size_t kVectorsToRotate = 8;

/// Transforms kVectorsToRotate vectors of `group`, from `first` on, into `to`.
template <class Group>
HWY_INLINE void rotate_vectors(const Group& group, std::size_t first, float* HWY_RESTRICT to, ChainsOfLanes& chains) {
  const FloatTag d;
  const std::size_t n = hn::Lanes(d);
  FloatVector v0 = group.vector(first), v1 = group.vector(first + n), v2 = group.vector(first + 2 * n),
              v3 = group.vector(first + 3 * n), v4 = group.vector(first + 4 * n), v5 = group.vector(first + 5 * n),
              v6 = group.vector(first + 6 * n), v7 = group.vector(first + 7 * n);
  add_and_subtract(v0, v4);
  add_and_subtract(v1, v5);
  add_and_subtract(v2, v6);
  add_and_subtract(v3, v7);
  add_and_subtract(v0, v2);
  add_and_subtract(v1, v3);
  add_and_subtract(v4, v6);
  add_and_subtract(v5, v7);
  add_and_subtract(v0, v1);
  add_and_subtract(v2, v3);
  add_and_subtract(v4, v5);
  add_and_subtract(v6, v7);
  const auto finish = [&](std::size_t chain, std::size_t i, FloatVector v) HWY_ATTR {
    v = rotated_lanes<hn::MaxLanes(d) / 2>(v);
    chains.take(chain, v);
    hn::StoreU(v, d, to + i * n);
  };
  finish(0, 0, v0);
  finish(1, 1, v1);
  finish(2, 2, v2);
  finish(3, 3, v3);
  finish(0, 4, v4);
  finish(1, 5, v5);
  finish(2, 6, v6);
  finish(3, 7, v7);
}

/// Writes the group of `width` numbers to `to`, transformed in blocks of `length`, and returns the result's
/// group_statistics. `length` is a multiple of kLeastRotation.
template <class Group>
HWY_INLINE GroupStatistics rotate_group(const Group& group, std::size_t width, std::size_t length,
                                        float* HWY_RESTRICT to) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d), together = kVectorsToRotate * lanes;
  static_assert(kLeastRotation % (kVectorsToRotate * hn::MaxLanes(d)) == 0);
  ChainsOfLanes chains;
  if (length == together) {
    for (std::size_t first = 0; first < width; first += length) rotate_vectors(group, first, to + first, chains);
    return chains.folded();
  }
  const auto halve = [&](const auto& numbers, std::size_t first, std::size_t distance) HWY_ATTR {
    for (std::size_t i = first; i < first + distance; i += lanes) {
      FloatVector a = numbers.vector(i), b = numbers.vector(i + distance);
      add_and_subtract(a, b);
      hn::StoreU(a, d, to + i);
      hn::StoreU(b, d, to + i + distance);
    }
  };
  const GroupInMemory<false> halved{to, nullptr};
  for (std::size_t first = 0; first < width; first += length) {
    halve(group, first, length / 2);
    for (std::size_t distance = length / 4; distance >= together; distance /= 2) {
      for (std::size_t i = first; i < first + length; i += 2 * distance) halve(halved, i, distance);
    }
    for (std::size_t i = first; i < first + length; i += together) rotate_vectors(halved, i, to + i, chains);
  }
  return chains.folded();
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
