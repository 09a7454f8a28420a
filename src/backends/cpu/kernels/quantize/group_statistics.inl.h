// A group's numbers and their statistics before quantization, for one instruction set.
#pragma once

#include "backends/cpu/kernels/quantize/quantize_rows.h"
#include "backends/cpu/kernels/vectors/simd.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// Per-lane minima and maxima of a group, and sums of its numbers times 0: 0, or NaN if there is an infinity or a NaN.
struct GroupStatistics {
  FloatVector least, greatest, zeros;
};

/// The same in several chains, which hide the latency of one.
class ChainsOfLanes {
 public:
  static constexpr std::size_t kChains = 4;

  HWY_INLINE ChainsOfLanes() : chains_{none(), none(), none(), none()} {}
  HWY_INLINE void take(std::size_t chain, FloatVector v) {
    GroupStatistics& lanes = chains_[chain];
    lanes.least = hn::Min(lanes.least, v);
    lanes.greatest = hn::Max(lanes.greatest, v);
    lanes.zeros = hn::MulAdd(v, hn::Zero(FloatTag()), lanes.zeros);
  }
  HWY_INLINE GroupStatistics folded() const {
    const GroupStatistics &a = chains_[0], &b = chains_[1], &c = chains_[2], &e = chains_[3];
    return {hn::Min(hn::Min(a.least, b.least), hn::Min(c.least, e.least)),
            hn::Max(hn::Max(a.greatest, b.greatest), hn::Max(c.greatest, e.greatest)),
            hn::Add(hn::Add(a.zeros, b.zeros), hn::Add(c.zeros, e.zeros))};
  }

 private:
  static HWY_INLINE GroupStatistics none() {
    const FloatTag d;
    return {hn::Inf(d), hn::Neg(hn::Inf(d)), hn::Zero(d)};
  }

  GroupStatistics chains_[kChains];
};

/// The numbers of a group of x · smoothing, read from memory.
template <bool kSmooths>
struct GroupInMemory {
  const float *x, *smoothing;

  HWY_INLINE FloatVector vector(std::size_t i) const {
    const FloatTag d;
    const FloatVector v = hn::LoadU(d, x + i);
    return kSmooths ? hn::Mul(v, hn::LoadU(d, smoothing + i)) : v;
  }
  HWY_INLINE FloatVector one(std::size_t i) const { return hn::Set(FloatTag(), kSmooths ? x[i] * smoothing[i] : x[i]); }
};

/// Reads each number of the group once, in order: vector(i) for a vector from i on, and one(i) for a leftover number,
/// in all lanes.
template <class Group>
HWY_INLINE GroupStatistics group_statistics(const Group& group, std::size_t width) {
  constexpr std::size_t kChains = ChainsOfLanes::kChains;
  const std::size_t lanes = hn::Lanes(FloatTag());
  ChainsOfLanes chains;
  std::size_t i = 0;
  for (; i + kChains * lanes <= width; i += kChains * lanes) {
    HWY_UNROLL(4) for (std::size_t c = 0; c < kChains; ++c) chains.take(c, group.vector(i + c * lanes));
  }
  for (; i + lanes <= width; i += lanes) chains.take(0, group.vector(i));
  for (; i < width; ++i) chains.take(1, group.one(i));
  return chains.folded();
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
