// The row loops of quantize_rows.h for one instruction set.
#pragma once

#include <type_traits>

#include "backends/cpu/kernels/elementwise/vector_math.inl.h"
#include "backends/cpu/kernels/quantize/group_statistics.inl.h"
#include "backends/cpu/kernels/quantize/quantize_rows.h"
#include "backends/cpu/kernels/quantize/rotate_group.inl.h"
#include "backends/cpu/kernels/rows/folded_lanes.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// Quantizes v = x · smoothing to the nearest integer to (v - offset) · inverse, from 0 to 255.
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

/// Quantizes four groups at a time, of one row or of several, so that their statistics fill one vector.
/// numbers_of(row, group, x, smoothing) returns the group's numbers like GroupInMemory. Once each of them has been
/// read, the group is at x.
template <bool kSmooths, typename Integer, class NumbersOf>
HWY_INLINE void quantize_runs(const QuantizeArguments& a, const NumbersOf& numbers_of) {
  constexpr float kSteps = 255, kLeastStep = 1e-20f;  // graph::QuantizedDense's
  constexpr std::size_t kPerWord = sizeof(float) / sizeof(Integer);
  const FoldedTag d;
  const std::size_t length = a.width / a.groups, words = (length + kPerWord - 1) / kPerWord, all = a.rows * a.groups;
  const std::size_t scales_stride = a.scales_stride == 0 ? a.groups : a.scales_stride;
  struct Group {
    const float *x, *smoothing;
    Integer* out;
    std::size_t scale;  // index of its scale
  };
  std::size_t row = 0, group = 0;
  for (std::size_t place = 0; place < all; place += kFolded) {
    const std::size_t count = all - place < kFolded ? all - place : kFolded;
    Group at[kFolded];
    FloatVector least[kFolded], greatest[kFolded], zeros[kFolded];
    for (std::size_t i = 0; i < kFolded; ++i) {
      if (i < count) {
        at[i] = {a.x + row * a.x_stride + group * length, kSmooths ? a.smoothing + group * length : nullptr,
                 static_cast<Integer*>(a.words) + (row * a.words_stride + group * words) * kPerWord,
                 row * scales_stride + group};
        const auto numbers = numbers_of(row, group, at[i].x, at[i].smoothing);
        const GroupStatistics found = a.rotation > 1 ? rotate_group(numbers, length, a.rotation, a.rotated + i * length)
                                                     : group_statistics(numbers, length);
        least[i] = found.least;
        greatest[i] = found.greatest;
        zeros[i] = found.zeros;
        group = group + 1 == a.groups ? 0 : group + 1;
        if (group == 0) ++row;
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
      if (a.rotation > 1)
        round_run<false, Integer>(a.rotated + i * length, nullptr, length, offset_of[i], inverse_of[i], at[i].out);
      else
        round_run<kSmooths, Integer>(at[i].x, at[i].smoothing, length, offset_of[i], inverse_of[i], at[i].out);
      for (std::size_t j = length; j < words * kPerWord; ++j) at[i].out[j] = 0;
    }
  }
}

/// Calls body(smooths, integer) with a constant for whether there is smoothing, and a value of the words' integer type.
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
    quantize_runs<smooths.value, decltype(integer)>(
        a, [&](std::size_t, std::size_t, const float* x, const float* smoothing) HWY_ATTR {
          return GroupInMemory<smooths.value>{x, smoothing};
        });
  });
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
