// The loops of elementwise.h for one instruction set.
#pragma once

#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/kernels/elementwise/vector_math.inl.h"
#include "backends/cpu/kernels/vectors/row_sum.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

template <UnaryOp kOp, class D, class V>
HWY_INLINE V unary_op(D d, V x) {
  if constexpr (kOp == UnaryOp::floor) return hn::Floor(x);
  if constexpr (kOp == UnaryOp::ceil) return hn::Ceil(x);
  if constexpr (kOp == UnaryOp::round_nearest_even) return hn::Round(x);
  if constexpr (kOp == UnaryOp::sqrt) return hn::Sqrt(x);
  if constexpr (kOp == UnaryOp::rsqrt) return hn::Div(hn::Set(d, 1.0f), hn::Sqrt(x));
  if constexpr (kOp == UnaryOp::exp) return simd_exp(d, x);
  if constexpr (kOp == UnaryOp::expm1) return simd_expm1(d, x);
  if constexpr (kOp == UnaryOp::log) return simd_log(d, x);
  if constexpr (kOp == UnaryOp::log1p) return simd_log1p(d, x);
  if constexpr (kOp == UnaryOp::tanh) return simd_tanh(d, x);
  if constexpr (kOp == UnaryOp::erf) return simd_erf(d, x);
  if constexpr (kOp == UnaryOp::logistic) return simd_logistic(d, x);
}

template <UnaryOp kOp>
HWY_NOINLINE void unary_loop(const float* x, float* y, std::size_t n) {
  const FloatTag d;
  for_each_vector(n,
                  [&](std::size_t i, auto load, auto store) HWY_ATTR { store(unary_op<kOp>(d, load(x + i)), y + i); });
}

inline void unary(UnaryOp op, const float* x, float* y, std::size_t n) {
  switch (op) {
    case UnaryOp::floor: return unary_loop<UnaryOp::floor>(x, y, n);
    case UnaryOp::ceil: return unary_loop<UnaryOp::ceil>(x, y, n);
    case UnaryOp::round_nearest_even: return unary_loop<UnaryOp::round_nearest_even>(x, y, n);
    case UnaryOp::sqrt: return unary_loop<UnaryOp::sqrt>(x, y, n);
    case UnaryOp::rsqrt: return unary_loop<UnaryOp::rsqrt>(x, y, n);
    case UnaryOp::exp: return unary_loop<UnaryOp::exp>(x, y, n);
    case UnaryOp::expm1: return unary_loop<UnaryOp::expm1>(x, y, n);
    case UnaryOp::log: return unary_loop<UnaryOp::log>(x, y, n);
    case UnaryOp::log1p: return unary_loop<UnaryOp::log1p>(x, y, n);
    case UnaryOp::tanh: return unary_loop<UnaryOp::tanh>(x, y, n);
    case UnaryOp::erf: return unary_loop<UnaryOp::erf>(x, y, n);
    case UnaryOp::logistic: return unary_loop<UnaryOp::logistic>(x, y, n);
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
