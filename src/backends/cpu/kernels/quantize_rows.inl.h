// The row loops of quantize_rows.h for one instruction set.
#pragma once

#include "backends/cpu/kernels/quantize_rows.h"
#include "backends/cpu/kernels/simd.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// The least and the greatest of some numbers, and whether all are finite.
struct RunRange {
  float least, greatest;
  bool is_finite;
};

/// Of x · smoothing.
template <bool kSmooths>
RunRange run_range(const float* HWY_RESTRICT x, const float* HWY_RESTRICT smoothing, std::size_t width) {
  constexpr std::size_t kChains = 4;  // hide the latency of one
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const float first = kSmooths ? x[0] * smoothing[0] : x[0];
  FloatVector least[kChains], greatest[kChains], sum[kChains];
  HWY_UNROLL(4) for (std::size_t c = 0; c < kChains; ++c) {
    least[c] = greatest[c] = hn::Set(d, first);
    sum[c] = hn::Zero(d);
  }
  // A sum of products with 0 is 0, or NaN where there is an infinity or a NaN.
  const auto take = [&](std::size_t c, FloatVector v) HWY_ATTR {
    least[c] = hn::Min(least[c], v);
    greatest[c] = hn::Max(greatest[c], v);
    sum[c] = hn::MulAdd(v, hn::Zero(d), sum[c]);
  };
  const auto load = [&](std::size_t i) HWY_ATTR {
    const FloatVector v = hn::LoadU(d, x + i);
    return kSmooths ? hn::Mul(v, hn::LoadU(d, smoothing + i)) : v;
  };
  std::size_t i = 0;
  for (; i + kChains * lanes <= width; i += kChains * lanes) {
    HWY_UNROLL(4) for (std::size_t c = 0; c < kChains; ++c) take(c, load(i + c * lanes));
  }
  for (; i + lanes <= width; i += lanes) take(0, load(i));
  for (; i < width; ++i) take(1, hn::Set(d, kSmooths ? x[i] * smoothing[i] : x[i]));
  const FloatVector low = hn::Min(hn::Min(least[0], least[1]), hn::Min(least[2], least[3]));
  const FloatVector high = hn::Max(hn::Max(greatest[0], greatest[1]), hn::Max(greatest[2], greatest[3]));
  const FloatVector all = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
  return {hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high)),
          hn::AllTrue(d, hn::Eq(all, hn::Zero(d)))};
}

/// Writes the integers of x · smoothing, (v - offset) · inverse, rounded.
template <bool kSmooths, typename Integer>
void round_run(const float* HWY_RESTRICT x, const float* HWY_RESTRICT smoothing, std::size_t width, float offset,
               float inverse, Integer* HWY_RESTRICT out) {
  const FloatTag d;
  const hn::Rebind<Integer, FloatTag> narrow;
  const std::size_t lanes = hn::Lanes(d);
  const FloatVector offsets = hn::Set(d, offset), inverses = hn::Set(d, inverse);
  const auto round = [&](FloatVector v) HWY_ATTR { return hn::NearestInt(hn::Mul(hn::Sub(v, offsets), inverses)); };
  std::size_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    FloatVector v = hn::LoadU(d, x + i);
    if (kSmooths) v = hn::Mul(v, hn::LoadU(d, smoothing + i));
    hn::StoreU(hn::DemoteTo(narrow, round(v)), narrow, out + i);
  }
  for (; i < width; ++i) {
    const FloatVector v = hn::Set(d, kSmooths ? x[i] * smoothing[i] : x[i]);
    out[i] = hn::GetLane(hn::DemoteTo(narrow, round(v)));
  }
}

template <bool kSmooths, typename Integer>
void quantize_rows_as(const QuantizeArguments& a) {
  constexpr float kSteps = 255, kLeastStep = 1e-20f;  // graph::QuantizedDense's
  constexpr std::size_t kPerWord = sizeof(float) / sizeof(Integer);
  const std::size_t length = a.width / a.runs, words = a.words_stride / a.runs;
  for (std::size_t row = 0; row < a.rows; ++row) {
    for (std::size_t run = 0; run < a.runs; ++run) {
      const float* x = a.x + row * a.x_stride + run * length;
      const float* smoothing = kSmooths ? a.smoothing + run * length : nullptr;
      const std::size_t place = row * a.runs + run;
      Integer* out = static_cast<Integer*>(a.words) + (row * a.words_stride + run * words) * kPerWord;
      const RunRange range = run_range<kSmooths>(x, smoothing, length);
      const float wanted = (range.greatest - range.least) / kSteps;
      const float step = wanted > kLeastStep ? wanted : kLeastStep;
      a.scales[place] = range.is_finite ? step : __builtin_nanf("");
      a.offsets[place] = range.least;
      round_run<kSmooths, Integer>(x, smoothing, length, range.least, 1.0f / step, out);
      for (std::size_t i = length; i < words * kPerWord; ++i) out[i] = 0;
    }
  }
}

inline void quantize_rows(const QuantizeArguments& a) {
  if (a.kind == WordKind::bytes) {
    a.smoothing != nullptr ? quantize_rows_as<true, std::uint8_t>(a) : quantize_rows_as<false, std::uint8_t>(a);
  } else {
    a.smoothing != nullptr ? quantize_rows_as<true, std::int16_t>(a) : quantize_rows_as<false, std::int16_t>(a);
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
