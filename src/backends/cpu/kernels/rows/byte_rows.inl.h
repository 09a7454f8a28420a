// The loop of byte_rows.h for one instruction set.
#pragma once

#include "backends/cpu/kernels/rows/byte_rows.h"
#include "backends/cpu/kernels/vectors/simd.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

using ShortTag = hn::ScalableTag<std::int16_t>;
using SumTag = hn::RepartitionToWide<ShortTag>;
using SumVector = hn::Vec<SumTag>;

/// Adds the products of the next lanes of bytes and shorts, in pairs, to one of two sums, or to both.
HWY_INLINE void add_byte_products(SumVector& sum, SumVector& other, const std::int8_t* m, const std::int16_t* x) {
  const ShortTag d;
  const hn::Rebind<std::int8_t, ShortTag> bytes;
  sum = settled(
      hn::ReorderWidenMulAccumulate(SumTag(), hn::PromoteTo(d, hn::LoadU(bytes, m)), hn::LoadU(d, x), sum, other));
}

inline std::int32_t dot_byte_row(const std::int8_t* m, const std::int16_t* x, std::size_t n) {
  const SumTag d;
  const std::size_t lanes = hn::Lanes(ShortTag());
  SumVector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, t0 = s0, t1 = s0, t2 = s0, t3 = s0;
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    add_byte_products(s0, t0, m + i, x + i);
    add_byte_products(s1, t1, m + i + lanes, x + i + lanes);
    add_byte_products(s2, t2, m + i + 2 * lanes, x + i + 2 * lanes);
    add_byte_products(s3, t3, m + i + 3 * lanes, x + i + 3 * lanes);
  }
  for (; i + lanes <= n; i += lanes) add_byte_products(s0, t0, m + i, x + i);
  const SumVector sums = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(t0, t1), hn::Add(t2, t3)));
  std::int32_t sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < n; ++i) sum += std::int32_t{m[i]} * x[i];
  return sum;
}

inline void dot_byte_rows(const ByteRowArguments& a) {
  for (std::size_t row = 0; row < a.rows; ++row) a.out[row] = dot_byte_row(a.m + row * a.m_stride, a.x, a.width);
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
