// The loops of depthwise.h for one instruction set.
#pragma once

#include "backends/cpu/kernels/vectors/simd.inl.h"
#include "backends/cpu/kernels/windows/depthwise.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

constexpr std::size_t kDepthwisePlaces = 6;

// kPlaces positions by kVectors vectors of channels; each weight is read once for all positions.
template <std::size_t kPlaces, std::size_t kVectors>
HWY_INLINE void depthwise_tile(const DepthwiseRun& run, std::size_t place, std::size_t channel) {
  const FloatTag d;
  constexpr std::size_t kWide = HWY_LANES(float);
  FloatVector sums[kPlaces][kVectors];
  HWY_UNROLL(8) for (std::size_t p = 0; p < kPlaces; ++p) {
    HWY_UNROLL(8) for (std::size_t v = 0; v < kVectors; ++v) sums[p][v] = hn::Zero(d);
  }
  const std::size_t offset = place * run.x_step + channel, step = run.x_step;
  for (std::size_t tap = 0; tap < run.taps; ++tap) {
    const float* weights = run.weights[tap] + channel;
    // One pointer for three positions, as x86 addressing reaches p, p + step and p + 2 step.
    const float* x[(kPlaces + 2) / 3];
    HWY_UNROLL(8) for (std::size_t p = 0; p < kPlaces; p += 3) x[p / 3] = run.x[tap] + offset + p * step;
    HWY_UNROLL(8) for (std::size_t v = 0; v < kVectors; ++v) {
      const FloatVector w = hn::LoadU(d, weights + v * kWide);
      HWY_UNROLL(8) for (std::size_t p = 0; p < kPlaces; ++p) {
        sums[p][v] = hn::MulAdd(hn::LoadU(d, x[p / 3] + p % 3 * step + v * kWide), w, sums[p][v]);
      }
    }
  }
  float* out = run.out + place * run.out_step + channel;
  HWY_UNROLL(8) for (std::size_t p = 0; p < kPlaces; ++p) {
    HWY_UNROLL(8) for (std::size_t v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[p][v], d, out + p * run.out_step + v * kWide);
    }
  }
}

HWY_INLINE void depthwise_rest(const DepthwiseRun& run, std::size_t place, std::size_t channel) {
  const FloatTag d;
  const std::size_t left = run.channels - channel, offset = place * run.x_step + channel;
  FloatVector sum = hn::Zero(d);
  for (std::size_t tap = 0; tap < run.taps; ++tap) {
    sum = hn::MulAdd(load_first(d, run.x[tap] + offset, left), load_first(d, run.weights[tap] + channel, left), sum);
  }
  store_first(sum, d, run.out + place * run.out_step + channel, left);
}

template <std::size_t kPlaces>
HWY_INLINE void depthwise_places(const DepthwiseRun& run, std::size_t place) {
  constexpr std::size_t kWide = HWY_LANES(float);
  std::size_t channel = 0;
  if constexpr (kPlaces == 1) {  // as many sums at a time as with several positions
    for (; channel + 8 * kWide <= run.channels; channel += 8 * kWide) depthwise_tile<1, 8>(run, place, channel);
  }
  for (; channel + 2 * kWide <= run.channels; channel += 2 * kWide) depthwise_tile<kPlaces, 2>(run, place, channel);
  for (; channel + kWide <= run.channels; channel += kWide) depthwise_tile<kPlaces, 1>(run, place, channel);
  if (channel == run.channels) return;
  for (std::size_t p = 0; p < kPlaces; ++p) depthwise_rest(run, place + p, channel);
}

inline void depthwise_run(const DepthwiseRun& run) {
  std::size_t place = 0;
  for (; place + kDepthwisePlaces <= run.places; place += kDepthwisePlaces)
    depthwise_places<kDepthwisePlaces>(run, place);
  for (; place + 2 <= run.places; place += 2) depthwise_places<2>(run, place);
  for (; place < run.places; ++place) depthwise_places<1>(run, place);
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
