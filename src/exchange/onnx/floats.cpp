// Functions of floats.
#include <cmath>
#include <limits>
#include <numbers>

#include "exchange/onnx/spelling.h"

namespace alate::exchange::onnx {
namespace {

using graph::Op;
using graph::set_of;

constexpr graph::DTypeSet kF32 = set_of(DType::f32), kF64 = set_of(DType::f64);
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Term function(std::string_view op, const Term& x) { return x.emitter->node(op, x.dtype, {x}); }
Term log(const Term& x) { return function("Log", x); }
Term exp(const Term& x) { return function("Exp", x); }
Term sqrt(const Term& x) { return function("Sqrt", x); }
Term over(double a, const Term& x) { return x.emitter->scalar(x.dtype, a) / x; }

// Computes a function in f64 and rounds, which makes its f32 result accurate.
template <Term (*kFunction)(const Term&)>
Terms in_double(const Call& c) {
  return {to(kFunction(to(c[0], DType::f64)), c[0].dtype)};
}

// Higham, "Accuracy and Stability of Numerical Algorithms", section 1.14: the errors of u = 1 + x (or e^x) and of the
// terms derived from it cancel.
Term log1p(const Term& x) {
  const Term u = x + 1;
  const Term is_fixed = (u == 1) | (u == kInfinity);
  return where(negated(is_fixed), log(u) * (x / (u - 1)), x);
}
Term expm1(const Term& x) {
  const Term u = exp(x), difference = u - 1;
  const Term corrected = where((difference == -1) | (u == kInfinity), difference, difference * (x / log(u)));
  return where(negated(u == 1), corrected, x);
}

// The runtime's f64 Sin and Cos are accurate only to an ulp of 1. So x is first reduced by quarter turns (Cody and
// Waite 1980): their number times each part of pi / 2 is exact. Past the limit x is not reduced.
struct Turned {
  Term quarters, rest;  // quarters: 0 to 3
};
constexpr double kMostReduced = 1e6;
Turned turned(const Term& x) {
  const Term quarters = function("Round", x * (2 / std::numbers::pi));
  const Term rest = x - quarters * 0x1.921fb544p+0 - quarters * 0x1.0b4611a6p-34 - quarters * 0x1.3198a2e0p-69;
  const Term inside = where(abs(x) < kMostReduced, quarters, 0);
  return {to(inside, DType::i64) & x.emitter->integer(DType::i64, 3), rest};
}
Term wave(const Term& x, std::int64_t ahead) {
  const auto [count, rest] = turned(x);
  Emitter& e = *x.emitter;
  const auto bit = [&](std::int64_t mask) {
    return ((count + static_cast<double>(ahead)) & e.integer(DType::i64, mask)) == static_cast<double>(mask);
  };
  const Term value = where(bit(1), function("Cos", rest), function("Sin", rest));
  return where(abs(x) < kMostReduced, where(bit(2), -value, value), function(ahead == 0 ? "Sin" : "Cos", x));
}
Term sin(const Term& x) {
  if (x.dtype == DType::f32) return function("Sin", x);
  return where(abs(x) > 1e-9, wave(x, 0), x);
}
Term cos(const Term& x) { return x.dtype == DType::f32 ? function("Cos", x) : wave(x, 1); }
Term tan(const Term& x) { return x.dtype == DType::f32 ? function("Tan", x) : sin(x) / cos(x); }

Term logistic(const Term& x) { return over(1, exp(-x) + 1); }
Term rsqrt(const Term& x) { return over(1, sqrt(x)); }

// Pow, and one Newton step to correct the error of the rounded exponent.
Term cbrt(const Term& x) {
  const Term size = abs(x), root = x.emitter->node("Pow", x.dtype, {size, x.emitter->scalar(x.dtype, 1.0 / 3)});
  const Term better = root - (root - size / (root * root)) / 3;
  const Term is_fixed = (x == 0) | (size == kInfinity);
  return where(negated(is_fixed), where(x < 0, -better, better), x);
}

// The runtime's f32 Tanh is inaccurate near zero, where tanh(x) = x.
Term tanh(const Term& x) {
  const Term result = function("Tanh", x);
  return x.dtype == DType::f32 ? where(abs(x) > 1e-4, result, x) : result;
}

Terms remainder(const Call& c) { return {c.e.node("Mod", c[0].dtype, {c[0], c[1]}, {attribute("fmod", 1)})}; }

// Atan in f32 gives an approximate angle, which a correction by its f64 sine and cosine refines.
Terms atan2(const Call& c) {
  const Term y = to(c[0], DType::f64), x = to(c[1], DType::f64);
  const Term high = abs(y), wide = abs(x), largest = larger(high, wide);
  Term ratio = smaller(high, wide) / largest;
  ratio = where(largest == 0, 0, ratio);
  ratio = where((high == kInfinity) & (wide == kInfinity), 1, ratio);
  const Term near = to(function("Atan", to(ratio, DType::f32)), DType::f64);
  const Term sine = function("Sin", near), cosine = function("Cos", near);
  const Term left = (ratio * cosine - sine) / (cosine + ratio * sine);
  Term angle = near + (left - left * left * left / 3);
  angle = where(high > wide, c.e.scalar(DType::f64, std::numbers::pi / 2) - angle, angle);
  const auto is_negative = [](const Term& value) { return (value < 0) | ((value == 0) & (over(1, value) < 0)); };
  angle = where(is_negative(x), c.e.scalar(DType::f64, std::numbers::pi) - angle, angle);
  return {to(where(negated(is_negative(y)), angle, -angle), c[0].dtype)};
}

// Abramowitz and Stegun, "Handbook of Mathematical Functions", 7.1.5 (a power series) up to 1, above it 7.1.14 (a
// continued fraction of 1 - erf); both with as many terms as f64 needs.
Term erf(const Term& value) {
  Emitter& e = *value.emitter;
  const Term x = smaller(abs(value), e.scalar(DType::f64, 6)), square = x * x;  // erf(6) is 1
  const Term small = smaller(x, e.scalar(DType::f64, 1)), ratio = -(small * small);
  constexpr int kTerms = 20;
  const auto weight = [](int n) { return 1 / (std::tgamma(n + 1) * (2 * n + 1)); };
  Term series = e.scalar(DType::f64, weight(kTerms - 1));
  for (int n = kTerms - 2; n >= 0; --n) series = series * ratio + e.scalar(DType::f64, weight(n));
  const Term below = small * (2 / std::sqrt(std::numbers::pi)) * series;
  const Term large = larger(x, e.scalar(DType::f64, 1));
  const Terms fraction = e.repeat(e.integer(DType::i64, 300), {large}, [&](const Terms& in) {
    const Term half_step = (e.scalar(DType::f64, 300) - to(in[0], DType::f64)) / 2;
    return Terms{large + half_step / in[1]};
  });
  const Term tail = exp(-square) * (1 / std::sqrt(std::numbers::pi)) / fraction[0];
  const Term size = where(x < 1, below, e.scalar(DType::f64, 1) - tail);
  return where(negated(value == 0), where(value < 0, -size, size), value);
}

template <Term (*kFunction)(const Term&)>
Terms plain(const Call& c) {
  return {kFunction(c[0])};
}

constexpr Spelling kFloatRows[] = {
    {Op::exp, kFloats, "Exp"},
    {Op::expm1, kFloats, "Exp, Log", in_double<expm1>},
    {Op::log, kFloats, "Log"},
    {Op::log1p, kFloats, "Log", in_double<log1p>},
    {Op::logistic, kFloats, "Exp, Div", plain<logistic>},
    {Op::tanh, kFloats, "Tanh", plain<tanh>},
    {Op::sin, kFloats, "Sin", plain<sin>},
    {Op::cos, kFloats, "Cos", plain<cos>},
    {Op::tan, kFloats, "Sin, Cos, Div", plain<tan>},
    {Op::erf, kF32, "Erf"},
    {Op::erf, kF64, "Loop", plain<erf>},
    {Op::sqrt, kFloats, "Sqrt"},
    {Op::rsqrt, kFloats, "Sqrt, Div", plain<rsqrt>},
    {Op::cbrt, kFloats, "Pow", in_double<cbrt>},
    {Op::floor, kFloats, "Floor"},
    {Op::ceil, kFloats, "Ceil"},
    {Op::round_nearest_even, kFloats, "Round"},
    {Op::is_nan, kFloats, "IsNaN"},
    {Op::div, kFloats, "Div"},
    {Op::rem, kFloats, "Mod", remainder},
    {Op::pow, kFloats, "Pow"},
    {Op::atan2, kFloats, "Atan, Sin, Cos", atan2},
};

}  // namespace

std::span<const Spelling> float_spellings() { return kFloatRows; }

}  // namespace alate::exchange::onnx
