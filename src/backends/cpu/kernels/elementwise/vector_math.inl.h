// Elementary functions and activations on vectors of f32, by our own minimax fits (see fit_vector_math.py, which prints
// the coefficients). Every lane is computed independently by one fixed formula: a result depends neither on the lane
// nor on whether the vector was full. NaN gives NaN. The bounds are the greatest errors over all floats and are tested.
#pragma once

#include <type_traits>

#include "backends/cpu/kernels/elementwise/activation.h"
#include "backends/cpu/kernels/elementwise/activation_tables.inl.h"
#include "backends/cpu/kernels/vectors/simd.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

// Adding 1.5 * 2^23 to |v| < 2^22 rounds v to an integer and leaves that integer in the low mantissa bits.
constexpr float kRoundingMagic = 12582912.0f;
// The same plus the exponent bias: the low bits are then the exponent field of 2^integer.
constexpr float kRoundingMagicBiased = 12583039.0f;
constexpr float kLog2E = 1.44269504f;
// ln 2 in two floats, the first with enough trailing zeros for n * high to be exact (Cody and Waite).
constexpr float kLn2High = 0.693359375f;
constexpr float kLn2Low = -2.12194440e-4f;

/// exp(r) for |r| <= ln(2)/2, as 1 + r + r^2 P(r).
template <class D, class V>
HWY_INLINE V exp_polynomial(D d, V r) {
  V p = hn::MulAdd(hn::Set(d, 0.00138145592f), r, hn::Set(d, 0.0083687352f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.041668389f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.166665211f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.49999994f));
  return hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), hn::Set(d, 1.0f));
}

/// e^x, within 2 ulp; infinity above 88.73, denormal results correctly rounded, 0 below -104.
template <class D, class V>
HWY_INLINE V simd_exp(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V magic = hn::Set(d, kRoundingMagic);
  const V shifted = hn::MulAdd(x, hn::Set(d, kLog2E), magic);
  const V n = hn::Sub(shifted, magic);
  const V r = hn::NegMulAdd(n, hn::Set(d, kLn2Low), hn::NegMulAdd(n, hn::Set(d, kLn2High), x));
  // 2^n in two factors, each a normal number, so that denormal results are rounded once and 2^128 can be reached.
  const auto whole = hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, magic));
  const auto half = hn::ShiftRight<1>(whole);
  const auto bias = hn::Set(di, 127);
  const V scale1 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
  const V scale2 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(whole, half), bias)));
  V y = hn::Mul(hn::Mul(exp_polynomial(d, r), scale1), scale2);
  y = hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -104.0f)), y);
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, 88.73f)), hn::Inf(d), y);
}

/// e^x for x <= 0, within 2 ulp where the result is normal, 0 below -87.3: the form that softmax and sigmoid need.
template <class D, class V>
HWY_INLINE V simd_exp_nonpositive(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V magic = hn::Set(d, kRoundingMagicBiased);
  const V shifted = hn::MulAdd(x, hn::Set(d, kLog2E), magic);
  const V n = hn::Sub(shifted, magic);
  const V r = hn::NegMulAdd(n, hn::Set(d, kLn2Low), hn::NegMulAdd(n, hn::Set(d, kLn2High), x));
  const V scale = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.3f)), hn::Mul(exp_polynomial(d, r), scale));
}

/// e^x - 1 for x <= 0, within 3 ulp, also near 0.
template <class D, class V>
HWY_INLINE V simd_expm1_nonpositive(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V one = hn::Set(d, 1.0f);
  const V magic = hn::Set(d, kRoundingMagicBiased);
  const V shifted = hn::MulAdd(x, hn::Set(d, kLog2E), magic);
  const V n = hn::Sub(shifted, magic);
  const V r = hn::NegMulAdd(n, hn::Set(d, kLn2Low), hn::NegMulAdd(n, hn::Set(d, kLn2High), x));
  const V scale = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  V p = hn::MulAdd(hn::Set(d, 0.000198241163f), r, hn::Set(d, 0.00139332772f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.00833341945f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.0416664816f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.166666657f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5f));
  const V fraction = hn::MulAdd(hn::Mul(r, r), p, r);
  const V y = hn::MulAdd(fraction, scale, hn::Sub(scale, one));
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, -17.5f)), hn::Neg(one), y);
}

/// e^x - 1, within 4 ulp, also near 0.
template <class D, class V>
HWY_INLINE V simd_expm1(D d, V x) {
  // The form for x <= 0 is as good up to 60, far below where its power of two overflows.
  const V y = simd_expm1_nonpositive(d, x);
  const V signed_y = hn::IfThenElse(hn::Gt(x, hn::Set(d, 60.0f)), simd_exp(d, x), y);
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, signed_y);
}

/// ln x, within 2 ulp, also of denormals; -infinity at 0, NaN below.
template <class D, class V>
HWY_INLINE V simd_log(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V one = hn::Set(d, 1.0f);
  const auto is_denormal = hn::Lt(x, hn::Set(d, 1.17549435e-38f));
  const V scaled = hn::IfThenElse(is_denormal, hn::Mul(x, hn::Set(d, 8388608.0f)), x);
  // Splits x into 2^e m with m in [sqrt(1/2), sqrt(2)).
  const auto bits = hn::BitCast(di, scaled);
  const auto offset = hn::Sub(bits, hn::Set(di, 0x3f3504f3));
  const auto e = hn::ShiftRight<23>(offset);
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(e)));
  const V exponent = hn::Sub(hn::ConvertTo(d, e), hn::IfThenElseZero(is_denormal, hn::Set(d, 23.0f)));
  const V f = hn::Sub(m, one);
  V p = hn::MulAdd(hn::Set(d, 0.0674662739f), f, hn::Set(d, -0.116756484f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.118881665f));
  p = hn::MulAdd(p, f, hn::Set(d, -0.1240559f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.142195523f));
  p = hn::MulAdd(p, f, hn::Set(d, -0.166679963f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.200021192f));
  p = hn::MulAdd(p, f, hn::Set(d, -0.250000089f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.333333135f));
  const V square = hn::Mul(f, f);
  V tail = hn::MulAdd(exponent, hn::Set(d, kLn2Low), hn::Mul(hn::Mul(square, f), p));
  tail = hn::NegMulAdd(hn::Set(d, 0.5f), square, tail);
  V y = hn::MulAdd(exponent, hn::Set(d, kLn2High), hn::Add(f, tail));
  y = hn::IfThenElse(hn::Eq(x, hn::Inf(d)), x, y);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(hn::Inf(d)), y);
  return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), y, hn::NaN(d));
}

/// ln(1 + x), within 4 ulp, also near 0: log(u) corrected by what rounding u = 1 + x lost (W. Kahan).
template <class D, class V>
HWY_INLINE V simd_log1p(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V u = hn::Add(one, x);
  const V lost = hn::Sub(x, hn::Sub(u, one));
  V y = hn::Add(simd_log(d, u), hn::Div(lost, u));
  y = hn::IfThenElse(hn::Eq(x, hn::Inf(d)), x, y);
  y = hn::IfThenElse(hn::Eq(x, hn::Set(d, -1.0f)), hn::Neg(hn::Inf(d)), y);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 1e-8f)), x, y);
}

/// 1 / x for x in [1, 2^60), within 2 ulp: without a division, which takes as long as ten multiply-adds in long
/// vectors.
template <class D, class V>
HWY_INLINE V simd_inverse(D d, V x) {
  if constexpr (hn::MaxLanes(D()) < 16) {
    return hn::Div(hn::Set(d, 1.0f), x);
  } else {
    // The CPU's estimate has 14 bits; a Newton step doubles them.
    const V y = hn::ApproximateReciprocal(x);
    return hn::MulAdd(hn::NegMulAdd(x, y, hn::Set(d, 1.0f)), y, y);
  }
}

/// Q(z), the part of the normal distribution above z >= 0, relative error 1e-6 where z < 4 and growing as z^2 beyond;
/// 0 above 13.2. Q(z) exp(z^2/2) is smooth (Mills' ratio), and a polynomial in 1 / (1 + 0.3 z) follows it.
template <class D, class V>
HWY_INLINE V simd_normal_tail(D d, V z) {
  const V one = hn::Set(d, 1.0f);
  z = hn::Min(hn::Set(d, 20.0f), z);  // keeps NaN: x86 then returns the second operand
  const V u = simd_inverse(d, hn::MulAdd(z, hn::Set(d, 0.3f), one));
  const V e = simd_exp_nonpositive(d, hn::Mul(hn::Mul(z, z), hn::Set(d, -0.5f)));
  V p = hn::MulAdd(hn::Set(d, 0.038311556f), u, hn::Set(d, -0.168841317f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.227988169f));
  p = hn::MulAdd(p, u, hn::Set(d, -0.0757367536f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.142002895f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.0949108824f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.121862032f));
  p = hn::MulAdd(p, u, hn::Set(d, 0.119495884f));
  p = hn::MulAdd(p, u, hn::Set(d, 6.68622442e-06f));
  return hn::Mul(p, e);
}

/// erf(x), within 3 ulp: a polynomial below 1, the tail of the normal distribution above.
template <class D, class V>
HWY_INLINE V simd_erf(D d, V x) {
  const V magnitude = hn::Abs(x);
  const V t = hn::Mul(x, x);
  V p = hn::MulAdd(hn::Set(d, 7.85386001e-05f), t, hn::Set(d, -0.000801019312f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.00518832775f));
  p = hn::MulAdd(p, t, hn::Set(d, -0.026853811f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.112835854f));
  p = hn::MulAdd(p, t, hn::Set(d, -0.37612626f));
  p = hn::MulAdd(p, t, hn::Set(d, 1.12837911f));
  const V tail = simd_normal_tail(d, hn::Mul(magnitude, hn::Set(d, 1.41421356f)));
  const V large = hn::CopySign(hn::NegMulAdd(hn::Set(d, 2.0f), tail, hn::Set(d, 1.0f)), x);
  return hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, 1.0f)), large, hn::Mul(x, p));
}

/// erf(|x| / sqrt(2)) / 2, absolute error 1.6e-7: |x| times a rational function of x^2, and 1/2 above 5.25. It takes
/// half the time of the normal distribution's tail, and keeps GELU within the error allowed for activations.
template <class D, class V>
HWY_INLINE V simd_half_erf(D d, V x) {
  const V t = hn::Mul(x, x), z = hn::Abs(x);
  V p = hn::MulAdd(hn::Set(d, 2.42868339e-08f), t, hn::Set(d, 6.40656754e-06f));
  V q = hn::MulAdd(hn::Set(d, 1.24601729e-06f), t, hn::Set(d, 7.14245034e-05f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.000160094176f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.00183516124f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.00462710392f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.0281149577f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.0328835733f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.249092922f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.398942232f));
  q = hn::MulAdd(q, t, hn::Set(d, 1.0f));
  const V half_erf = hn::Mul(hn::Mul(z, p), simd_inverse(d, q));
  return hn::IfThenElse(hn::Gt(z, hn::Set(d, 5.25f)), hn::Set(d, 0.5f), half_erf);
}

/// |x| P(u) with u = 2 x^2 / end^2 - 1, at most 1/2, its value from |x| = end on. NaN gives NaN.
template <std::size_t kCoefficients, class D, class V>
HWY_INLINE V half_by_polynomial(D d, V x, float end, const float (&coefficients)[kCoefficients]) {
  const V z = hn::Min(hn::Set(d, end), hn::Abs(x));  // a NaN stays: the second operand is given then
  const V u = hn::MulAdd(hn::Mul(z, z), hn::Set(d, 2.0f / (end * end)), hn::Set(d, -1.0f));
  V p = hn::Set(d, coefficients[0]);
  HWY_UNROLL(16) for (std::size_t i = 1; i < kCoefficients; ++i) p = hn::MulAdd(p, u, hn::Set(d, coefficients[i]));
  return hn::Min(hn::Set(d, 0.5f), hn::Mul(z, p));
}

/// erf(|x| / sqrt(2)) / 2, absolute error 5e-6.
template <class D, class V>
HWY_INLINE V simd_coarse_half_erf(D d, V x) {
  constexpr float kCoefficients[] = {0.00172066852f, -0.00442215987f, 0.00485130912f, -0.00702257687f,
                                     0.014219204f,   -0.0224404316f,  0.0306309406f,  -0.0405114219f,
                                     0.052911412f,   -0.0729827955f,  0.147212699f};
  return half_by_polynomial(d, x, 4.8f, kCoefficients);
}

/// tanh(sqrt(2 / pi) (|x| + 0.044715 |x|^3)) / 2, absolute error 3e-6.
template <class D, class V>
HWY_INLINE V simd_coarse_half_tanh(D d, V x) {
  constexpr float kCoefficients[] = {0.00132383942f, -0.00354318251f, 0.00403519534f, -0.0056430744f,
                                     0.0116228051f,  -0.0197286177f,  0.0289937947f,  -0.0403363593f,
                                     0.0542665236f,  -0.0758673921f,  0.153572202f};
  return half_by_polynomial(d, x, 4.6f, kCoefficients);
}

/// tanh(x), within 4 ulp: -m / (2 + m) where m = expm1(-2|x|).
template <class D, class V>
HWY_INLINE V simd_tanh(D d, V x) {
  const V m = simd_expm1_nonpositive(d, hn::Mul(hn::Abs(x), hn::Set(d, -2.0f)));
  return hn::CopySign(hn::Div(m, hn::Add(m, hn::Set(d, 2.0f))), x);
}

/// 1 / (1 + e^-x), within 4 ulp where the result is normal; 0 below -87.3.
template <class D, class V>
HWY_INLINE V simd_logistic(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V e = simd_exp_nonpositive(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

/// `value`, but x * 0 where x < `limit`: -0, and NaN at -infinity, as in the activations' formulas.
template <class D, class V>
HWY_INLINE V zero_below(D d, V x, float limit, V value) {
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, limit)), hn::Mul(x, hn::Zero(d)), value);
}

/// The accuracy of an activation.
enum class Accuracy {
  fine,    // an absolute error of at most 2e-7 max(1, |x|)
  coarse,  // 1e-5 max(1, |x|), where that is faster: for results of bf16 and 8-bit products, whose own error is a
           // hundred times larger
};

#if HWY_TARGET == HWY_AVX3
// The table for an activation of the form x / 2 + |x| f(kScale |x|), where a table is faster and accurate enough.
template <Activation kActivation, Accuracy kAccuracy>
struct ActivationTable {};
template <Accuracy kAccuracy>
struct ActivationTable<Activation::gelu_erf, kAccuracy> {
  using F = std::conditional_t<kAccuracy == Accuracy::fine, FineHalfErf, CoarseHalfErf>;
};
template <Accuracy kAccuracy>
struct ActivationTable<Activation::gelu_tanh, kAccuracy> {
  using F = std::conditional_t<kAccuracy == Accuracy::fine, FineHalfTanh, CoarseHalfTanh>;
};
template <>
struct ActivationTable<Activation::silu, Accuracy::coarse> {
  using F = HalfLogistic;
};
template <>
struct ActivationTable<Activation::quick_gelu, Accuracy::coarse> {
  using F = HalfLogistic;
  static constexpr float kScale = 1.702f;
};

template <Activation kActivation, Accuracy kAccuracy, class D>
constexpr bool kHasTable =
    std::is_same_v<D, FloatTag> && requires { typename ActivationTable<kActivation, kAccuracy>::F; };
#endif

/// Applies the activation to every lane.
template <Activation kActivation, Accuracy kAccuracy = Accuracy::fine, class D, class V>
HWY_INLINE V activate(D d, V x) {
  if constexpr (kActivation == Activation::relu) {
    return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
#if HWY_TARGET == HWY_AVX3
  } else if constexpr (kHasTable<kActivation, kAccuracy, D>) {
    using Table = ActivationTable<kActivation, kAccuracy>;
    const V z = hn::Abs(x);
    V scaled = z;
    if constexpr (requires { Table::kScale; }) scaled = hn::Mul(z, hn::Set(d, Table::kScale));
    return hn::MulAdd(z, by_table<typename Table::F>(scaled), hn::Mul(x, hn::Set(d, 0.5f)));
#endif
  } else if constexpr (kActivation == Activation::gelu_erf) {
    const V half = kAccuracy == Accuracy::coarse ? simd_coarse_half_erf(d, x) : simd_half_erf(d, x);
    return hn::MulAdd(hn::Abs(x), half, hn::Mul(x, hn::Set(d, 0.5f)));
  } else if constexpr (kActivation == Activation::gelu_tanh && kAccuracy == Accuracy::coarse) {
    return hn::MulAdd(hn::Abs(x), simd_coarse_half_tanh(d, x), hn::Mul(x, hn::Set(d, 0.5f)));
  } else if constexpr (kActivation == Activation::gelu_tanh) {
    // (1 + tanh y) / 2 = logistic(2y).
    const V cubic = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.0713548163f), hn::Set(d, 1.59576912f));
    return zero_below(d, x, -12.0f, hn::Mul(x, simd_logistic(d, hn::Mul(x, cubic))));
  } else if constexpr (kActivation == Activation::silu) {
    return zero_below(d, x, -88.0f, hn::Mul(x, simd_logistic(d, x)));
  } else if constexpr (kActivation == Activation::tanh) {
    return simd_tanh(d, x);
  } else if constexpr (kActivation == Activation::sigmoid) {
    return simd_logistic(d, x);
  } else if constexpr (kActivation == Activation::quick_gelu) {
    return zero_below(d, x, -52.0f, hn::Mul(x, simd_logistic(d, hn::Mul(x, hn::Set(d, 1.702f)))));
  } else {
    return x;
  }
}

/// x[i] = function(d, x[i]) for all i below n; the last partial vector by the same formula.
template <class Function>
HWY_INLINE void map_in_place(float* HWY_RESTRICT x, std::size_t n, const Function& function) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(function(d, hn::LoadU(d, x + i)), d, x + i);
  if (i < n) store_first(function(d, load_first(d, x + i, n - i)), d, x + i, n - i);
}

template <Activation kActivation>
HWY_NOINLINE void apply_one_activation(float* HWY_RESTRICT x, std::size_t n) {
  map_in_place(x, n, [](auto d, auto v) HWY_ATTR { return activate<kActivation>(d, v); });
}

/// x[i] = activation(x[i]) for all i below n.
inline void apply_activation(Activation activation, float* x, std::size_t n) {
  switch (activation) {
    case Activation::none: return;
    case Activation::relu: return apply_one_activation<Activation::relu>(x, n);
    case Activation::gelu_erf: return apply_one_activation<Activation::gelu_erf>(x, n);
    case Activation::gelu_tanh: return apply_one_activation<Activation::gelu_tanh>(x, n);
    case Activation::silu: return apply_one_activation<Activation::silu>(x, n);
    case Activation::tanh: return apply_one_activation<Activation::tanh>(x, n);
    case Activation::sigmoid: return apply_one_activation<Activation::sigmoid>(x, n);
    case Activation::quick_gelu: return apply_one_activation<Activation::quick_gelu>(x, n);
  }
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
