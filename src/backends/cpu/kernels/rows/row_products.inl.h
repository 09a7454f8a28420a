// The loops of row_products.h for one instruction set.
#pragma once

#include "backends/cpu/kernels/rows/row_products.h"
#include "backends/cpu/kernels/vectors/row_sum.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// Four vectors of partial sums, joined as in fold_row: the order depends only on n.
inline float dot_row(const float* a, const float* b, std::size_t n) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  FloatVector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), s0);
    s1 = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), s1);
    s2 = hn::MulAdd(hn::LoadU(d, a + i + 2 * lanes), hn::LoadU(d, b + i + 2 * lanes), s2);
    s3 = hn::MulAdd(hn::LoadU(d, a + i + 3 * lanes), hn::LoadU(d, b + i + 3 * lanes), s3);
  }
  for (; i + lanes <= n; i += lanes) s0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), s0);
  if (i < n) s1 = hn::MulAdd(load_first(d, a + i, n - i), load_first(d, b + i, n - i), s1);
  return combine_lanes(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), AddScalars());
}

inline void dot_rows(const RowProductArguments& a) {
  for (std::size_t row = 0; row < a.rows; ++row) a.out[row] = a.scale * dot_row(a.m + row * a.m_stride, a.x, a.width);
}

/// Four vectors of column sums stay in registers over all rows.
inline void sum_rows(const RowProductArguments& a) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const FloatVector scale = hn::Set(d, a.scale);
  std::size_t j = 0;
  for (; j + 4 * lanes <= a.width; j += 4 * lanes) {
    FloatVector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (std::size_t row = 0; row < a.rows; ++row) {
      const float* m = a.m + row * a.m_stride + j;
      const FloatVector x = hn::Set(d, a.x[row]);
      s0 = hn::MulAdd(x, hn::LoadU(d, m), s0);
      s1 = hn::MulAdd(x, hn::LoadU(d, m + lanes), s1);
      s2 = hn::MulAdd(x, hn::LoadU(d, m + 2 * lanes), s2);
      s3 = hn::MulAdd(x, hn::LoadU(d, m + 3 * lanes), s3);
    }
    hn::StoreU(hn::Mul(scale, s0), d, a.out + j);
    hn::StoreU(hn::Mul(scale, s1), d, a.out + j + lanes);
    hn::StoreU(hn::Mul(scale, s2), d, a.out + j + 2 * lanes);
    hn::StoreU(hn::Mul(scale, s3), d, a.out + j + 3 * lanes);
  }
  for_each_vector(a.width - j, [&](std::size_t i, auto load, auto store) HWY_ATTR {
    FloatVector sum = hn::Zero(d);
    for (std::size_t row = 0; row < a.rows; ++row)
      sum = hn::MulAdd(hn::Set(d, a.x[row]), load(a.m + row * a.m_stride + j + i), sum);
    store(hn::Mul(scale, sum), a.out + j + i);
  });
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
