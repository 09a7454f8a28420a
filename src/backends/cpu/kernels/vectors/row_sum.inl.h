// Loops over f32 rows, and row sums in a fixed order.
#pragma once

#include "backends/cpu/kernels/vectors/row_sums.h"
#include "backends/cpu/kernels/vectors/simd.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// Calls body(i, load, store) for each vector of a row of n floats; load and store are partial in the last one.
template <class Body>
HWY_INLINE void for_each_vector(std::size_t n, const Body& body) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  const auto load = [d](const float* p) HWY_ATTR { return hn::LoadU(d, p); };
  const auto store = [d](FloatVector v, float* p) HWY_ATTR { hn::StoreU(v, d, p); };
  for (; i + lanes <= n; i += lanes) body(i, load, store);
  if (i == n) return;
  const std::size_t left = n - i;
  const auto load_tail = [d, left](const float* p) HWY_ATTR { return load_first(d, p, left); };
  const auto store_tail = [d, left](FloatVector v, float* p) HWY_ATTR { store_first(v, d, p, left); };
  body(i, load_tail, store_tail);
}

/// Combines the lanes by halves: (0 with n/2, 1 with n/2 + 1, ...), then again.
template <class Combine>
HWY_INLINE float combine_lanes(FloatVector v, const Combine& combine) {
  const FloatTag d;
  HWY_ALIGN float lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  for (std::size_t half = hn::Lanes(d) / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lanes[i] = combine(lanes[i], lanes[i + half]);
  }
  return lanes[0];
}

/// Folds a row into the lanes of a vector: step(accumulator, vector) over all vectors (lanes past the end hold
/// `filler`), four accumulators wide, which start as `identity` and are then joined by combine. The order depends only
/// on n.
template <class Step, class Combine>
HWY_INLINE FloatVector fold_row_to_lanes(const float* x, std::size_t n, float identity, float filler, const Step& step,
                                         const Combine& combine) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  FloatVector a0 = hn::Set(d, identity), a1 = a0, a2 = a0, a3 = a0;
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a0 = step(a0, hn::LoadU(d, x + i));
    a1 = step(a1, hn::LoadU(d, x + i + lanes));
    a2 = step(a2, hn::LoadU(d, x + i + 2 * lanes));
    a3 = step(a3, hn::LoadU(d, x + i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) a0 = step(a0, hn::LoadU(d, x + i));
  if (i < n) {
    const FloatVector last = load_first(d, x + i, n - i);
    a1 = step(a1, hn::IfThenElse(hn::FirstN(d, n - i), last, hn::Set(d, filler)));
  }
  return combine(combine(a0, a1), combine(a2, a3));
}

/// Folds a row into a number.
template <class Step, class Combine, class CombineScalar>
HWY_INLINE float fold_row(const float* x, std::size_t n, float identity, float filler, const Step& step,
                          const Combine& combine, const CombineScalar& combine_scalar) {
  return combine_lanes(fold_row_to_lanes(x, n, identity, filler, step, combine), combine_scalar);
}

struct AddVectors {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};
struct AddScalars {
  HWY_INLINE float operator()(float a, float b) const { return a + b; }
};

/// The sums of kRows rows, in lanes as in row_sums.h. One chain of additions per row, so that a kernel that produces a
/// row vector by vector can compute bit-identical sums.
template <std::size_t kRows>
HWY_INLINE void lanes_of_sums(const float* const (&rows)[kRows], std::size_t n, FloatVector (&sums)[kRows]) {
  const FloatTag d;
  for (FloatVector& sum : sums) sum = hn::Zero(d);
  for_each_vector(n, [&](std::size_t i, auto load, auto) HWY_ATTR {
    HWY_UNROLL(4) for (std::size_t row = 0; row < kRows; ++row) sums[row] = hn::Add(sums[row], load(rows[row] + i));
  });
}

/// The sum of (x - mean)^2, in lanes.
inline FloatVector lanes_of_squares(const float* x, float mean, std::size_t n) {
  const FloatTag d;
  const FloatVector means = hn::Set(d, mean);
  const auto step = [means](FloatVector sum, FloatVector v) HWY_ATTR {
    const FloatVector difference = hn::Sub(v, means);
    return hn::MulAdd(difference, difference, sum);
  };
  return fold_row_to_lanes(x, n, 0.0f, mean, step, AddVectors());
}

inline float square_root(float x) {
  const hn::CappedTag<float, 1> d;
  return hn::GetLane(hn::Sqrt(hn::Set(d, x)));
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
