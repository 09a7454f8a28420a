// The row loops of normalize.h for one instruction set.
#pragma once

#include "backends/cpu/kernels/normalize.h"
#include "backends/cpu/kernels/row_sum.inl.h"
#include "backends/cpu/kernels/simd.inl.h"

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

/// out = v * factor + offset, then scaled and shifted where the row has those.
inline void scale_row(const NormArguments& a, const float* v, float mean, float factor, float* out) {
  const FloatTag d;
  const FloatVector means = hn::Set(d, mean);
  const FloatVector factors = hn::Set(d, factor);
  for_each_vector(a.width, [&](std::size_t i, auto load, auto store) HWY_ATTR {
    FloatVector y = hn::Mul(hn::Sub(load(v + i), means), factors);
    if (a.scale != nullptr && a.shift != nullptr) {
      y = hn::MulAdd(y, load(a.scale + i), load(a.shift + i));
    } else if (a.scale != nullptr) {
      y = hn::Mul(y, load(a.scale + i));
    } else if (a.shift != nullptr) {
      y = hn::Add(y, load(a.shift + i));
    }
    store(y, out + i);
  });
}

inline void normalize_rows(NormKind kind, const NormArguments& a) {
  const float count = static_cast<float>(a.width);
  for (std::size_t row = 0; row < a.rows; ++row) {
    const float* x = a.x + row * a.x_stride;
    const float* residual = a.residual != nullptr ? a.residual + row * a.residual_stride : nullptr;
    float* out = a.out + row * a.out_stride;
    float* kept = a.sum != nullptr ? a.sum + row * a.sum_stride : out;
    const float* v = add_to_row(a, x, residual, kept);
    if (a.sum != nullptr && v != kept) {
      for (std::size_t i = 0; i < a.width; ++i) kept[i] = v[i];
    }
    float mean = 0;
    if (kind == NormKind::layer) mean = row_sum(v, a.width) / count;
    const float squares = row_sum_of_squares(v, mean, a.width);
    float factor = 0;
    if (kind == NormKind::l2) {
      const float norm = square_root(squares);
      factor = 1.0f / (norm < a.epsilon ? a.epsilon : norm);
    } else {
      factor = 1.0f / square_root(squares / count + a.epsilon);
    }
    scale_row(a, v, mean, factor, out);
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
