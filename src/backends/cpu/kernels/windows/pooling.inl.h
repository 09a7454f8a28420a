// The loops of pooling.h for one instruction set.
#pragma once

#include "backends/cpu/kernels/rows/reduce_f32.inl.h"
#include "backends/cpu/kernels/windows/pooling.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

template <Pooling kPooling>
inline void pool_sequence(const float* x, std::size_t stride, std::size_t length, std::size_t width, float* out) {
  const FloatTag d;
  const float count = static_cast<float>(length);
  float divisor = 1;
  if constexpr (kPooling == Pooling::mean) divisor = count;
  if constexpr (kPooling == Pooling::mean_sqrt_len) divisor = square_root(count);
  if constexpr (kPooling == Pooling::weighted_mean) divisor = count * (count + 1) / 2;
  const FloatVector divisors = hn::Set(d, divisor);
  for_each_vector(width, [&](std::size_t i, auto load, auto store) HWY_ATTR {
    FloatVector sum = load(x + i);
    for (std::size_t token = 1; token < length; ++token) {
      const FloatVector v = load(x + token * stride + i);
      if constexpr (kPooling == Pooling::max) {
        sum = max_or_nan(sum, v);
      } else if constexpr (kPooling == Pooling::weighted_mean) {
        sum = hn::MulAdd(v, hn::Set(d, static_cast<float>(token + 1)), sum);
      } else {
        sum = hn::Add(sum, v);
      }
    }
    if constexpr (kPooling != Pooling::max) sum = hn::Div(sum, divisors);
    store(sum, out + i);
  });
}

inline void pool_tokens(Pooling pooling, const PoolArguments& a) {
  for (std::size_t s = 0; s < a.sequences; ++s) {
    float* out = a.out + s * a.out_stride;
    const std::size_t length = static_cast<std::size_t>(a.lengths[s]);
    if (length == 0) {
      for (std::size_t i = 0; i < a.width; ++i) out[i] = 0;
      continue;
    }
    const float* x = a.x + static_cast<std::size_t>(a.starts[s]) * a.x_stride;
    switch (pooling) {
      case Pooling::mean: pool_sequence<Pooling::mean>(x, a.x_stride, length, a.width, out); break;
      case Pooling::max: pool_sequence<Pooling::max>(x, a.x_stride, length, a.width, out); break;
      case Pooling::mean_sqrt_len: pool_sequence<Pooling::mean_sqrt_len>(x, a.x_stride, length, a.width, out); break;
      case Pooling::weighted_mean: pool_sequence<Pooling::weighted_mean>(x, a.x_stride, length, a.width, out); break;
      case Pooling::cls:
        for (std::size_t i = 0; i < a.width; ++i) out[i] = x[i];
        break;
      case Pooling::last:
        for (std::size_t i = 0; i < a.width; ++i) out[i] = x[(length - 1) * a.x_stride + i];
        break;
    }
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
