// The row loops of quantize_rows.h for one instruction set.
#pragma once

#include <type_traits>

#include "backends/cpu/kernels/quantize_rows.h"
#include "backends/cpu/kernels/transpose.inl.h"
#include "backends/cpu/kernels/vector_math.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// Lanes of the least and the greatest numbers of a run of x · smoothing, and of sums of their products with 0: 0, or
/// NaN where there is an infinity or a NaN.
struct RunLanes {
  FloatVector least, greatest, zeros;
};

template <bool kSmooths>
HWY_INLINE RunLanes lanes_of_run(const float* HWY_RESTRICT x, const float* HWY_RESTRICT smoothing, std::size_t width) {
  constexpr std::size_t kChains = 2;  // hide the latency of one
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const FloatVector first = hn::Set(d, kSmooths ? x[0] * smoothing[0] : x[0]);
  RunLanes chains[kChains];
  HWY_UNROLL(2) for (std::size_t c = 0; c < kChains; ++c) chains[c] = {first, first, hn::Zero(d)};
  const auto take = [&](std::size_t c, FloatVector v) HWY_ATTR {
    chains[c].least = hn::Min(chains[c].least, v);
    chains[c].greatest = hn::Max(chains[c].greatest, v);
    chains[c].zeros = hn::MulAdd(v, hn::Zero(d), chains[c].zeros);
  };
  const auto load = [&](std::size_t i) HWY_ATTR {
    const FloatVector v = hn::LoadU(d, x + i);
    return kSmooths ? hn::Mul(v, hn::LoadU(d, smoothing + i)) : v;
  };
  std::size_t i = 0;
  for (; i + kChains * lanes <= width; i += kChains * lanes) {
    HWY_UNROLL(2) for (std::size_t c = 0; c < kChains; ++c) take(c, load(i + c * lanes));
  }
  for (; i + lanes <= width; i += lanes) take(0, load(i));
  for (; i < width; ++i) take(1, hn::Set(d, kSmooths ? x[i] * smoothing[i] : x[i]));
  return {hn::Min(chains[0].least, chains[1].least), hn::Max(chains[0].greatest, chains[1].greatest),
          hn::Add(chains[0].zeros, chains[1].zeros)};
}

constexpr std::size_t kRunsAtOnce = 4;
using RunTag = hn::FixedTag<float, kRunsAtOnce>;
using OfRuns = hn::Vec<RunTag>;  // a number of each run

/// Folds all blocks of 128 bits into one.
template <class D, class Fold>
HWY_INLINE OfRuns folded_blocks(D d, hn::Vec<D> v, const Fold& fold) {
  if constexpr (hn::MaxLanes(d) == kRunsAtOnce) {
    return v;
  } else {
    const hn::Half<D> half;
    return folded_blocks(half, fold(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), fold);
  }
}

/// Of each of four vectors, its lanes folded into one.
template <class Fold>
HWY_INLINE OfRuns folded_lanes(const FloatVector (&vectors)[kRunsAtOnce], const Fold& fold) {
  const FloatTag d;
  FloatVector across[kRunsAtOnce];
  transpose_blocks(d, vectors, across);
  return folded_blocks(d, fold(fold(across[0], across[1]), fold(across[2], across[3])), fold);
}

/// Writes the integers of x · smoothing, (v - offset) · inverse, rounded: from 0 to 255.
template <bool kSmooths, typename Integer>
HWY_INLINE void round_run(const float* HWY_RESTRICT x, const float* HWY_RESTRICT smoothing, std::size_t width,
                          float offset, float inverse, Integer* HWY_RESTRICT out) {
  const FloatTag d;
  const hn::RebindToUnsigned<FloatTag> words;
  const hn::Rebind<std::make_unsigned_t<Integer>, FloatTag> narrow;
  const std::size_t lanes = hn::Lanes(d);
  const FloatVector offsets = hn::Set(d, offset), inverses = hn::Set(d, inverse), magic = hn::Set(d, kRoundingMagic);
  const auto rounded = [&](FloatVector v) HWY_ATTR {
    return hn::TruncateTo(narrow, hn::BitCast(words, hn::Add(hn::Mul(hn::Sub(v, offsets), inverses), magic)));
  };
  auto* to = reinterpret_cast<std::make_unsigned_t<Integer>*>(out);
  std::size_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    FloatVector v = hn::LoadU(d, x + i);
    if (kSmooths) v = hn::Mul(v, hn::LoadU(d, smoothing + i));
    hn::StoreU(rounded(v), narrow, to + i);
  }
  for (; i < width; ++i) {
    const FloatVector v = hn::Set(d, kSmooths ? x[i] * smoothing[i] : x[i]);
    to[i] = hn::GetLane(rounded(v));
  }
}

/// Four runs at a time, of one row or of several: what is found for each of them then takes the room of one vector.
template <bool kSmooths, typename Integer>
void quantize_rows_as(const QuantizeArguments& a) {
  constexpr float kSteps = 255, kLeastStep = 1e-20f;  // graph::QuantizedDense's
  constexpr std::size_t kPerWord = sizeof(float) / sizeof(Integer);
  const RunTag d;
  const std::size_t length = a.width / a.runs, words = a.words_stride / a.runs, all = a.rows * a.runs;
  struct Run {
    const float *x, *smoothing;
    Integer* out;
  };
  std::size_t row = 0, run = 0;
  for (std::size_t place = 0; place < all; place += kRunsAtOnce) {
    const std::size_t count = all - place < kRunsAtOnce ? all - place : kRunsAtOnce;
    Run at[kRunsAtOnce];
    FloatVector least[kRunsAtOnce], greatest[kRunsAtOnce], zeros[kRunsAtOnce];
    for (std::size_t i = 0; i < kRunsAtOnce; ++i) {
      if (i < count) {
        at[i] = {a.x + row * a.x_stride + run * length, kSmooths ? a.smoothing + run * length : nullptr,
                 static_cast<Integer*>(a.words) + (row * a.words_stride + run * words) * kPerWord};
        run = run + 1 == a.runs ? 0 : run + 1;
        if (run == 0) ++row;
      } else {
        at[i] = at[0];
      }
      const RunLanes found = lanes_of_run<kSmooths>(at[i].x, at[i].smoothing, length);
      least[i] = found.least;
      greatest[i] = found.greatest;
      zeros[i] = found.zeros;
    }
    const auto min = [](auto x, auto y) HWY_ATTR { return hn::Min(x, y); };
    const auto max = [](auto x, auto y) HWY_ATTR { return hn::Max(x, y); };
    const auto add = [](auto x, auto y) HWY_ATTR { return hn::Add(x, y); };
    const OfRuns offsets = folded_lanes(least, min);
    const OfRuns wanted = hn::Div(hn::Sub(folded_lanes(greatest, max), offsets), hn::Set(d, kSteps));
    const OfRuns least_step = hn::Set(d, kLeastStep);
    const OfRuns steps = hn::IfThenElse(hn::Gt(wanted, least_step), wanted, least_step);
    const auto are_finite = hn::Eq(folded_lanes(zeros, add), hn::Zero(d));
    const OfRuns scales = hn::IfThenElse(are_finite, steps, hn::Set(d, __builtin_nanf("")));
    HWY_ALIGN float offset_of[kRunsAtOnce], inverse_of[kRunsAtOnce];
    hn::Store(offsets, d, offset_of);
    hn::Store(hn::Div(hn::Set(d, 1.0f), steps), d, inverse_of);
    if (count == kRunsAtOnce) {
      hn::StoreU(scales, d, a.scales + place);
      hn::StoreU(offsets, d, a.offsets + place);
    } else {
      store_first(scales, d, a.scales + place, count);
      store_first(offsets, d, a.offsets + place, count);
    }
    for (std::size_t i = 0; i < count; ++i) {
      round_run<kSmooths, Integer>(at[i].x, at[i].smoothing, length, offset_of[i], inverse_of[i], at[i].out);
      for (std::size_t j = length; j < words * kPerWord; ++j) at[i].out[j] = 0;
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
