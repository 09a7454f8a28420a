// The loops of elementwise.h for one instruction set.
#pragma once

#include <math.h>

#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/reduce.inl.h"
#include "backends/cpu/kernels/vector_math.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

/// function(x) lane by lane, through the C library: for ops too rare to have a vector form.
template <class D, class V, class Function>
HWY_INLINE V by_lane(D d, V x, const Function& function) {
  HWY_ALIGN float lanes[hn::MaxLanes(d)];
  hn::Store(x, d, lanes);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = function(lanes[i]);
  return hn::Load(d, lanes);
}

template <UnaryOp kOp, class D, class V>
HWY_INLINE V unary_op(D d, V x) {
  if constexpr (kOp == UnaryOp::negate) return hn::Neg(x);
  if constexpr (kOp == UnaryOp::abs) return hn::Abs(x);
  if constexpr (kOp == UnaryOp::sign) {
    const V signed_one = hn::CopySign(hn::Set(d, 1.0f), x);
    return hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Zero(d)), signed_one, x);
  }
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
  if constexpr (kOp == UnaryOp::sine) return by_lane(d, x, [](float v) { return ::sinf(v); });
  if constexpr (kOp == UnaryOp::cosine) return by_lane(d, x, [](float v) { return ::cosf(v); });
  if constexpr (kOp == UnaryOp::reciprocal) return hn::Div(hn::Set(d, 1.0f), x);
  if constexpr (kOp == UnaryOp::square) return hn::Mul(x, x);
}

template <UnaryOp kOp>
HWY_NOINLINE void unary_loop(const float* x, float* y, std::size_t n) {
  const FloatTag d;
  for_each_vector(n,
                  [&](std::size_t i, auto load, auto store) HWY_ATTR { store(unary_op<kOp>(d, load(x + i)), y + i); });
}

inline void unary(UnaryOp op, const float* x, float* y, std::size_t n) {
  switch (op) {
    case UnaryOp::negate: return unary_loop<UnaryOp::negate>(x, y, n);
    case UnaryOp::abs: return unary_loop<UnaryOp::abs>(x, y, n);
    case UnaryOp::sign: return unary_loop<UnaryOp::sign>(x, y, n);
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
    case UnaryOp::sine: return unary_loop<UnaryOp::sine>(x, y, n);
    case UnaryOp::cosine: return unary_loop<UnaryOp::cosine>(x, y, n);
    case UnaryOp::reciprocal: return unary_loop<UnaryOp::reciprocal>(x, y, n);
    case UnaryOp::square: return unary_loop<UnaryOp::square>(x, y, n);
  }
}

template <BinaryOp kOp, class D, class V>
HWY_INLINE V binary_op(D d, V a, V b) {
  if constexpr (kOp == BinaryOp::add) return hn::Add(a, b);
  if constexpr (kOp == BinaryOp::subtract) return hn::Sub(a, b);
  if constexpr (kOp == BinaryOp::multiply) return hn::Mul(a, b);
  if constexpr (kOp == BinaryOp::divide) return hn::Div(a, b);
  if constexpr (kOp == BinaryOp::maximum) return max_or_nan(a, b);
  if constexpr (kOp == BinaryOp::minimum) return min_or_nan(a, b);
  if constexpr (kOp == BinaryOp::power) {
    HWY_ALIGN float exponents[hn::MaxLanes(d)];
    hn::Store(b, d, exponents);
    std::size_t lane = 0;
    return by_lane(d, a, [&](float v) { return ::powf(v, exponents[lane++]); });
  }
}

template <BinaryOp kOp>
HWY_NOINLINE void binary_loop(BroadcastOperand<float> a, BroadcastOperand<float> b, float* out, std::size_t rows,
                              std::size_t width) {
  const FloatTag d;
  for (std::size_t row = 0; row < rows; ++row) {
    const float* x = a.data + row * a.row_step;
    const float* y = b.data + row * b.row_step;
    float* to = out + row * width;
    const FloatVector vx = hn::Set(d, *x);
    const FloatVector vy = hn::Set(d, *y);
    if (a.step != 0 && b.step != 0) {
      for_each_vector(width, [&](std::size_t i, auto load, auto store)
                                 HWY_ATTR { store(binary_op<kOp>(d, load(x + i), load(y + i)), to + i); });
    } else if (a.step != 0) {
      for_each_vector(width, [&](std::size_t i, auto load, auto store)
                                 HWY_ATTR { store(binary_op<kOp>(d, load(x + i), vy), to + i); });
    } else if (b.step != 0) {
      for_each_vector(width, [&](std::size_t i, auto load, auto store)
                                 HWY_ATTR { store(binary_op<kOp>(d, vx, load(y + i)), to + i); });
    } else {
      for_each_vector(width,
                      [&](std::size_t i, auto, auto store) HWY_ATTR { store(binary_op<kOp>(d, vx, vy), to + i); });
    }
  }
}

inline void binary(BinaryOp op, BroadcastOperand<float> a, BroadcastOperand<float> b, float* out, std::size_t rows,
                   std::size_t width) {
  switch (op) {
    case BinaryOp::add: return binary_loop<BinaryOp::add>(a, b, out, rows, width);
    case BinaryOp::subtract: return binary_loop<BinaryOp::subtract>(a, b, out, rows, width);
    case BinaryOp::multiply: return binary_loop<BinaryOp::multiply>(a, b, out, rows, width);
    case BinaryOp::divide: return binary_loop<BinaryOp::divide>(a, b, out, rows, width);
    case BinaryOp::maximum: return binary_loop<BinaryOp::maximum>(a, b, out, rows, width);
    case BinaryOp::minimum: return binary_loop<BinaryOp::minimum>(a, b, out, rows, width);
    case BinaryOp::power: return binary_loop<BinaryOp::power>(a, b, out, rows, width);
  }
}

// Comparisons and selections only move and compare bits: the compiler's own vectors are right and quick enough.
template <typename T, class Holds>
HWY_INLINE void compare_loop(BroadcastOperand<T> a, BroadcastOperand<T> b, std::uint8_t* out, std::size_t rows,
                             std::size_t width, const Holds& holds) {
  for (std::size_t row = 0; row < rows; ++row) {
    const T* x = a.data + row * a.row_step;
    const T* y = b.data + row * b.row_step;
    std::uint8_t* to = out + row * width;
    if (a.step != 0 && b.step != 0) {
      for (std::size_t i = 0; i < width; ++i) to[i] = holds(x[i], y[i]) ? 1 : 0;
    } else {
      for (std::size_t i = 0; i < width; ++i) to[i] = holds(x[i * a.step], y[i * b.step]) ? 1 : 0;
    }
  }
}

template <typename T>
inline void compare(CompareOp op, BroadcastOperand<T> a, BroadcastOperand<T> b, std::uint8_t* out, std::size_t rows,
                    std::size_t width) {
  switch (op) {
    case CompareOp::equal: return compare_loop(a, b, out, rows, width, [](T x, T y) { return x == y; });
    case CompareOp::not_equal: return compare_loop(a, b, out, rows, width, [](T x, T y) { return x != y; });
    case CompareOp::less: return compare_loop(a, b, out, rows, width, [](T x, T y) { return x < y; });
    case CompareOp::less_equal: return compare_loop(a, b, out, rows, width, [](T x, T y) { return x <= y; });
    case CompareOp::greater: return compare_loop(a, b, out, rows, width, [](T x, T y) { return x > y; });
    case CompareOp::greater_equal: return compare_loop(a, b, out, rows, width, [](T x, T y) { return x >= y; });
  }
}

template <typename T>
inline void select(BroadcastOperand<std::uint8_t> condition, BroadcastOperand<T> a, BroadcastOperand<T> b, T* out,
                   std::size_t rows, std::size_t width) {
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint8_t* c = condition.data + row * condition.row_step;
    const T* x = a.data + row * a.row_step;
    const T* y = b.data + row * b.row_step;
    T* to = out + row * width;
    for (std::size_t i = 0; i < width; ++i) to[i] = c[i * condition.step] != 0 ? x[i * a.step] : y[i * b.step];
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
