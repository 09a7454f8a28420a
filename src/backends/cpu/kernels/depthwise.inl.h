// depthwise.h for one instruction set.
#pragma once

#include "backends/cpu/kernels/depthwise.h"
#include "backends/cpu/kernels/simd.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

inline void depthwise_point(const DepthwisePoint& point) {
  constexpr std::size_t kTogether = 4;
  const FloatTag d;
  constexpr std::size_t kWide = HWY_LANES(float);
  std::size_t c = 0;
  for (; c + kTogether * kWide <= point.channels; c += kTogether * kWide) {
    FloatVector sums[kTogether];
    HWY_UNROLL(4) for (std::size_t v = 0; v < kTogether; ++v) sums[v] = hn::Zero(d);
    for (std::size_t tap = 0; tap < point.taps; ++tap) {
      const float *x = point.x[tap] + c, *w = point.weights[tap] + c;
      HWY_UNROLL(4) for (std::size_t v = 0; v < kTogether; ++v) {
        sums[v] = hn::MulAdd(hn::LoadU(d, x + v * kWide), hn::LoadU(d, w + v * kWide), sums[v]);
      }
    }
    HWY_UNROLL(4) for (std::size_t v = 0; v < kTogether; ++v) hn::StoreU(sums[v], d, point.out + c + v * kWide);
  }
  for (; c + kWide <= point.channels; c += kWide) {
    FloatVector sum = hn::Zero(d);
    for (std::size_t tap = 0; tap < point.taps; ++tap)
      sum = hn::MulAdd(hn::LoadU(d, point.x[tap] + c), hn::LoadU(d, point.weights[tap] + c), sum);
    hn::StoreU(sum, d, point.out + c);
  }
  if (c == point.channels) return;
  const std::size_t left = point.channels - c;
  FloatVector sum = hn::Zero(d);
  for (std::size_t tap = 0; tap < point.taps; ++tap)
    sum = hn::MulAdd(load_first(d, point.x[tap] + c, left), load_first(d, point.weights[tap] + c, left), sum);
  store_first(sum, d, point.out + c, left);
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
