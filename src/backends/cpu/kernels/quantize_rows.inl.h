// The row loops of quantize_rows.h for one instruction set.
#pragma once

#include <type_traits>

#include "backends/cpu/kernels/folded_lanes.inl.h"
#include "backends/cpu/kernels/quantize_rows.h"
#include "backends/cpu/kernels/vector_math.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// Lanes of the least and the greatest numbers of a run of x · smoothing, and of sums of their products with 0: 0, or
/// NaN where there is an infinity or a NaN.
struct RunLanes {
  FloatVector least, greatest, zeros;
};

/// The numbers of a run that lie in memory.
template <bool kSmooths>
struct RunInMemory {
  const float *x, *smoothing;

  HWY_INLINE FloatVector vector(std::size_t i) const {
    const FloatTag d;
    const FloatVector v = hn::LoadU(d, x + i);
    return kSmooths ? hn::Mul(v, hn::LoadU(d, smoothing + i)) : v;
  }
  HWY_INLINE FloatVector one(std::size_t i) const { return hn::Set(FloatTag(), kSmooths ? x[i] * smoothing[i] : x[i]); }
};

/// Asks for each number of the run once, in their order: vector(i) for those from i on, and one(i) for a last one, in
/// all lanes.
template <class Run>
HWY_INLINE RunLanes lanes_of_run(const Run& run, std::size_t width) {
  constexpr std::size_t kChains = 4;  // hide the latency of one
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const FloatVector infinity = hn::Inf(d);
  const RunLanes none{infinity, hn::Neg(infinity), hn::Zero(d)};
  RunLanes chains[kChains] = {none, none, none, none};
  const auto take = [&](std::size_t c, FloatVector v) HWY_ATTR {
    chains[c].least = hn::Min(chains[c].least, v);
    chains[c].greatest = hn::Max(chains[c].greatest, v);
    chains[c].zeros = hn::MulAdd(v, hn::Zero(d), chains[c].zeros);
  };
  std::size_t i = 0;
  for (; i + kChains * lanes <= width; i += kChains * lanes) {
    HWY_UNROLL(4) for (std::size_t c = 0; c < kChains; ++c) take(c, run.vector(i + c * lanes));
  }
  for (; i + lanes <= width; i += lanes) take(0, run.vector(i));
  for (; i < width; ++i) take(1, run.one(i));
  return {hn::Min(hn::Min(chains[0].least, chains[1].least), hn::Min(chains[2].least, chains[3].least)),
          hn::Max(hn::Max(chains[0].greatest, chains[1].greatest), hn::Max(chains[2].greatest, chains[3].greatest)),
          hn::Add(hn::Add(chains[0].zeros, chains[1].zeros), hn::Add(chains[2].zeros, chains[3].zeros))};
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
/// lanes_of(row, run, x, smoothing) gives what lanes_of_run does, and sees to it that the run is at x.
template <bool kSmooths, typename Integer, class LanesOf>
HWY_INLINE void quantize_runs(const QuantizeArguments& a, const LanesOf& lanes_of) {
  constexpr float kSteps = 255, kLeastStep = 1e-20f;  // graph::QuantizedDense's
  constexpr std::size_t kPerWord = sizeof(float) / sizeof(Integer);
  const FoldedTag d;
  const std::size_t length = a.width / a.runs, words = (length + kPerWord - 1) / kPerWord, all = a.rows * a.runs;
  const std::size_t scales_stride = a.scales_stride == 0 ? a.runs : a.scales_stride;
  struct Run {
    const float *x, *smoothing;
    Integer* out;
    std::size_t scale;  // its place
  };
  std::size_t row = 0, run = 0;
  for (std::size_t place = 0; place < all; place += kFolded) {
    const std::size_t count = all - place < kFolded ? all - place : kFolded;
    Run at[kFolded];
    FloatVector least[kFolded], greatest[kFolded], zeros[kFolded];
    for (std::size_t i = 0; i < kFolded; ++i) {
      if (i < count) {
        at[i] = {a.x + row * a.x_stride + run * length, kSmooths ? a.smoothing + run * length : nullptr,
                 static_cast<Integer*>(a.words) + (row * a.words_stride + run * words) * kPerWord,
                 row * scales_stride + run};
        const RunLanes found = lanes_of(row, run, at[i].x, at[i].smoothing);
        least[i] = found.least;
        greatest[i] = found.greatest;
        zeros[i] = found.zeros;
        run = run + 1 == a.runs ? 0 : run + 1;
        if (run == 0) ++row;
      } else {
        least[i] = least[0];
        greatest[i] = greatest[0];
        zeros[i] = zeros[0];
      }
    }
    const auto min = [](auto x, auto y) HWY_ATTR { return hn::Min(x, y); };
    const auto max = [](auto x, auto y) HWY_ATTR { return hn::Max(x, y); };
    const auto add = [](auto x, auto y) HWY_ATTR { return hn::Add(x, y); };
    const Folded offsets = folded_lanes(least, min);
    const Folded wanted = hn::Div(hn::Sub(folded_lanes(greatest, max), offsets), hn::Set(d, kSteps));
    const Folded least_step = hn::Set(d, kLeastStep);
    const Folded steps = hn::IfThenElse(hn::Gt(wanted, least_step), wanted, least_step);
    const auto are_finite = hn::Eq(folded_lanes(zeros, add), hn::Zero(d));
    const Folded scales = hn::IfThenElse(are_finite, steps, hn::Set(d, __builtin_nanf("")));
    HWY_ALIGN float offset_of[kFolded], inverse_of[kFolded], scale_of[kFolded];
    hn::Store(offsets, d, offset_of);
    hn::Store(hn::Div(hn::Set(d, 1.0f), steps), d, inverse_of);
    hn::Store(scales, d, scale_of);
    for (std::size_t i = 0; i < count; ++i) {
      a.scales[at[i].scale] = scale_of[i];
      a.offsets[at[i].scale] = offset_of[i];
      round_run<kSmooths, Integer>(at[i].x, at[i].smoothing, length, offset_of[i], inverse_of[i], at[i].out);
      for (std::size_t j = length; j < words * kPerWord; ++j) at[i].out[j] = 0;
    }
  }
}

/// Calls body(smooths, integer) with a constant that says whether there is a smoothing, and a value of the type of the
/// words' integers.
template <class Body>
HWY_INLINE void with_form_of(const QuantizeArguments& a, const Body& body) {
  const auto with_integer = [&](auto integer) HWY_ATTR {
    if (a.smoothing != nullptr)
      body(std::true_type(), integer);
    else
      body(std::false_type(), integer);
  };
  if (a.kind == WordKind::bytes)
    with_integer(std::uint8_t());
  else
    with_integer(std::int16_t());
}

inline void quantize_rows(const QuantizeArguments& a) {
  with_form_of(a, [&](auto smooths, auto integer) HWY_ATTR {
    const std::size_t length = a.width / a.runs;
    quantize_runs<smooths.value, decltype(integer)>(
        a, [&](std::size_t, std::size_t, const float* x, const float* smoothing) HWY_ATTR {
          return lanes_of_run(RunInMemory<smooths.value>{x, smoothing}, length);
        });
  });
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
