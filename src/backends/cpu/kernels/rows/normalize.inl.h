// The row loops of normalize.h for one instruction set. Four rows at a time: their sums are folded together, which
// hides the latency from a row's sum to its factor.
#pragma once

#include "backends/cpu/kernels/rows/bf16_rows.inl.h"
#include "backends/cpu/kernels/rows/folded_lanes.inl.h"
#include "backends/cpu/kernels/rows/normalize.h"
#include "backends/cpu/kernels/vectors/row_sum.inl.h"
#include "backends/cpu/kernels/vectors/simd.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// out = x + residual + bias for one row; returns the row to normalize (x itself when nothing is added).
inline const float* add_to_row(const NormArguments& a, const float* x, const float* residual, float* out) {
  if (residual == nullptr && a.bias == nullptr) return x;
  for_each_vector(a.width, [&](std::size_t i, auto load, auto store) HWY_ATTR {
    FloatVector v = load(x + i);
    if (a.bias != nullptr) v = hn::Add(v, load(a.bias + i));
    if (residual != nullptr) v = hn::Add(v, load(residual + i));
    store(v, out + i);
  });
  return out;
}

/// A row with residual and bias added, also stored to `sum` if set.
inline const float* row_to_normalize(const NormArguments& a, std::size_t row) {
  const float* residual = a.residual != nullptr ? a.residual + row * a.residual_stride : nullptr;
  if (residual == nullptr && a.bias == nullptr && a.sum == nullptr) return a.x + row * a.x_stride;
  float* kept = a.sum != nullptr ? a.sum + row * a.sum_stride : a.out + row * a.out_stride;
  const float* v = add_to_row(a, a.x + row * a.x_stride, residual, kept);
  if (a.sum != nullptr && v != kept) {
    for (std::size_t i = 0; i < a.width; ++i) kept[i] = v[i];
  }
  return v;
}

/// Up to four rows with known means and factors: the norm before scaling is (v - mean) · factor.
struct RowsToScale {
  const float* v[kFolded];
  HWY_ALIGN float means[kFolded], factors[kFolded];
};

inline void measure_rows(NormKind kind, const NormArguments& a, std::size_t first, std::size_t rows,
                         RowsToScale& found) {
  const FoldedTag d;
  const Folded count = hn::Set(d, static_cast<float>(a.width)), epsilon = hn::Set(d, a.epsilon);
  FloatVector lanes[kFolded];
  for (std::size_t i = 0; i < kFolded; ++i) found.v[i] = i < rows ? row_to_normalize(a, first + i) : found.v[0];
  Folded means = hn::Zero(d);
  if (kind == NormKind::layer) {
    if (a.row_sums == nullptr) {
      lanes_of_sums(found.v, a.width, lanes);
    } else {
      for (std::size_t i = 0; i < kFolded; ++i)
        lanes[i] = hn::LoadU(FloatTag(), a.row_sums + (first + (i < rows ? i : 0)) * kSumLanes);
    }
    means = hn::Div(folded_by_halves(lanes, AddVectors()), count);
  }
  hn::Store(means, d, found.means);
  for (std::size_t i = 0; i < kFolded; ++i)
    lanes[i] = i < rows ? lanes_of_squares(found.v[i], found.means[i], a.width) : lanes[0];
  const Folded squares = folded_by_halves(lanes, AddVectors());
  Folded divisors = hn::Zero(d);
  if (kind == NormKind::l2) {
    const Folded norms = hn::Sqrt(squares);
    divisors = hn::IfThenElse(hn::Lt(norms, epsilon), epsilon, norms);
  } else {
    divisors = hn::Sqrt(hn::Add(hn::Div(squares, count), epsilon));
  }
  hn::Store(hn::Div(hn::Set(d, 1.0f), divisors), d, found.factors);
}

/// (v - mean) · factor, then scale and shift if set, loaded by load(p) from index i on.
template <class Load>
HWY_INLINE FloatVector scaled(const NormArguments& a, FloatVector v, FloatVector means, FloatVector factors,
                              std::size_t i, const Load& load) {
  const FloatVector y = hn::Mul(hn::Sub(v, means), factors);
  if (a.scale != nullptr && a.shift != nullptr) return hn::MulAdd(y, load(a.scale + i), load(a.shift + i));
  if (a.scale != nullptr) return hn::Mul(y, load(a.scale + i));
  if (a.shift != nullptr) return hn::Add(y, load(a.shift + i));
  return y;
}

inline void scale_row(const NormArguments& a, const float* v, float mean, float factor, float* out) {
  const FloatTag d;
  const FloatVector means = hn::Set(d, mean), factors = hn::Set(d, factor);
  for_each_vector(a.width, [&](std::size_t i, auto load, auto store)
                               HWY_ATTR { store(scaled(a, load(v + i), means, factors, i, load), out + i); });
}

/// The same for a row that is also rounded to bf16; out may be null.
inline void scale_and_round_row(const NormArguments& a, const float* v, float mean, float factor, float* out,
                                std::uint16_t* halves) {
  const FloatTag d;
  const FloatVector means = hn::Set(d, mean), factors = hn::Set(d, factor);
  for_each_vector(a.width, [&](std::size_t i, auto load, auto store) HWY_ATTR {
    const FloatVector y = scaled(a, load(v + i), means, factors, i, load);
    if (out != nullptr) store(y, out + i);
    store_halves(y, halves + i, a.width - i);
  });
}

inline void normalize_rows(NormKind kind, const NormArguments& a) {
  for (std::size_t first = 0; first < a.rows; first += kFolded) {
    const std::size_t rows = a.rows - first < kFolded ? a.rows - first : kFolded;
    RowsToScale found;
    measure_rows(kind, a, first, rows, found);
    for (std::size_t i = 0; i < rows; ++i) {
      float* out = a.out == nullptr ? nullptr : a.out + (first + i) * a.out_stride;
      if (a.halves == nullptr) {
        scale_row(a, found.v[i], found.means[i], found.factors[i], out);
      } else {
        std::uint16_t* halves = a.halves + (first + i) * a.halves_stride;
        scale_and_round_row(a, found.v[i], found.means[i], found.factors[i], out, halves);
      }
    }
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
