// The row loops of softmax.h for one instruction set.
#pragma once

#include <hwy/cache_control.h>

#include "backends/cpu/kernels/elementwise/vector_math.inl.h"
#include "backends/cpu/kernels/rows/reduce_f32.inl.h"
#include "backends/cpu/kernels/rows/softmax.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// A row of only -infinity gives NaN, as in the formula.
HWY_INLINE FloatVector exponential(FloatVector v, FloatVector greatest) {
  return simd_exp_nonpositive(FloatTag(), hn::Sub(v, greatest));
}

/// out = exp(x - greatest); returns its sum, in fold_row's order.
inline float exponentials(const float* x, float* out, std::size_t n, FloatVector greatest) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  FloatVector sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  const auto add = [&](std::size_t i, FloatVector& sum) HWY_ATTR {
    const FloatVector v = exponential(hn::LoadU(d, x + i), greatest);
    hn::StoreU(v, d, out + i);
    sum = hn::Add(sum, v);
  };
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < 4; ++k) add(i + k * lanes, sums[k]);
  }
  for (; i + lanes <= n; i += lanes) add(i, sums[0]);
  if (i < n) {
    const FloatVector v = exponential(load_first(d, x + i, n - i), greatest);
    store_first(v, d, out + i, n - i);
    sums[1] = hn::Add(sums[1], hn::IfThenElseZero(hn::FirstN(d, n - i), v));
  }
  return combine_lanes(hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])), AddScalars());
}

/// out = x * factor; bypasses the caches if `streams` is set and out is aligned to vectors.
inline void scale_exponentials(const float* x, float factor, float* out, std::size_t n, bool streams) {
  const FloatTag d;
  const FloatVector factors = hn::Set(d, factor);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  if (streams && reinterpret_cast<std::uintptr_t>(out) % (lanes * sizeof(float)) == 0) {
    for (; i + lanes <= n; i += lanes) hn::Stream(hn::Mul(hn::LoadU(d, x + i), factors), d, out + i);
  }
  for_each_vector(n - i, [&](std::size_t k, auto load, auto store)
                             HWY_ATTR { store(hn::Mul(load(x + i + k), factors), out + i + k); });
}

inline void softmax_rows(const SoftmaxArguments& a) {
  constexpr std::size_t kFloatsPerLine = 16, kBuffered = 4096;
  HWY_ALIGN float buffer[kBuffered];
  const FloatTag d;
  const bool is_short = a.width <= kBuffered, streams = a.streams && is_short;
  for (std::size_t row = 0; row < a.rows; ++row) {
    const float* x = a.x + row * a.x_stride;
    float* out = a.out + row * a.out_stride;
    // Prefetches the next row while this one is computed.
    for (std::size_t i = 0; is_short && row + 1 < a.rows && i < a.width; i += kFloatsPerLine)
      __builtin_prefetch(x + a.x_stride + i, 0, 3);
    const FloatVector greatest = hn::Set(d, reduce_row<ReduceOp::max>(x, a.width));
    if (a.logarithm) {
      const auto step = [&](FloatVector sum, FloatVector v) HWY_ATTR { return hn::Add(sum, exponential(v, greatest)); };
      const float sum = fold_row(x, a.width, 0.0f, hn::GetLane(hn::Neg(hn::Inf(d))), step, AddVectors(), AddScalars());
      const FloatVector log_sum = simd_log(d, hn::Set(d, sum));
      for_each_vector(a.width, [&](std::size_t i, auto load, auto store)
                                   HWY_ATTR { store(hn::Sub(hn::Sub(load(x + i), greatest), log_sum), out + i); });
    } else {
      float* made = streams ? buffer : out;
      const float sum = exponentials(x, made, a.width, greatest);
      scale_exponentials(made, 1.0f / sum, out, a.width, streams);
    }
  }
  if (streams) hwy::FlushStream();
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
