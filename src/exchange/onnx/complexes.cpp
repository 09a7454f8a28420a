// Complex ops, on pairs along a last axis, and Fourier transforms.
#include "exchange/onnx/complexes.h"

#include <algorithm>
#include <numbers>

#include "exchange/onnx/layout.h"
#include "exchange/onnx/spelling.h"

namespace alate::exchange::onnx {
namespace {

using graph::FftKind;
using graph::Op;

DType part_dtype(DType dtype) { return dtype == DType::c128 || dtype == DType::f64 ? DType::f64 : DType::f32; }
DType pair_dtype(DType dtype) { return part_dtype(dtype) == DType::f64 ? DType::c128 : DType::c64; }

Term with_dtype(Term x, DType dtype) {
  x.dtype = dtype;
  return x;
}

}  // namespace

Term part(const Term& z, std::int64_t which) {
  return entry(with_dtype(z, part_dtype(z.dtype)), z.emitter->integer(DType::i64, which), -1);
}

Term paired(const Term& real, const Term& imaginary) {
  const Term pair = concatenate({unsqueeze(real, {-1}), unsqueeze(imaginary, {-1})}, -1);
  return with_dtype(pair, pair_dtype(real.dtype));
}

namespace {

Terms complex(const Call& c) { return {paired(c[0], c[1])}; }
Terms real(const Call& c) { return {part(c[0], 0)}; }
Terms imag(const Call& c) { return {part(c[0], 1)}; }
Terms conj(const Call& c) { return {paired(part(c[0], 0), -part(c[0], 1))}; }
Terms mul(const Call& c) {
  const Term a = part(c[0], 0), b = part(c[0], 1), x = part(c[1], 0), y = part(c[1], 1);
  return {paired(a * x - b * y, a * y + b * x)};
}

// The longest transform that is written as a sum of products.
constexpr std::int64_t kMostSummed = 2048;

bool is_power_of_two(std::int64_t length) { return (length & (length - 1)) == 0; }

struct Transform {
  std::int64_t axis, length, rank;  // of the value without the parts axis
  std::int64_t parts;               // 1 or 2
  bool is_inverse, is_half;         // half: only results 0 to length / 2
};

// A direct sum of products with the roots of unity. For lengths that are not powers of two, the DFT operator loses half
// of the digits.
Term summed(const Term& x, const Transform& t) {
  Emitter& e = *x.emitter;
  const auto numbers = [&](std::int64_t count) { return count_to(e.integers({count})); };
  const Term product = unsqueeze(numbers(t.length), {1}) * numbers(t.is_half ? t.length / 2 + 1 : t.length);
  const Term turns = to(e.node("Mod", DType::i64, {product, e.integer(DType::i64, t.length)}), DType::f64);
  const Term angle = turns * ((t.is_inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(t.length));
  const Term cosine = to(e.node("Cos", DType::f64, {angle}), x.dtype);
  const Term sine = to(e.node("Sin", DType::f64, {angle}), x.dtype);
  const auto times = [&](const Term& y, const Term& roots) { return e.node("MatMul", x.dtype, {y, roots}); };

  Numbers order = other_axes(static_cast<std::size_t>(t.rank + 1), {t.axis, t.rank});
  order.push_back(t.axis);
  order.push_back(t.rank);
  const Term moved = transpose(x, order), real = entry(moved, e.integer(DType::i64, 0), -1);
  Term real_sum = times(real, cosine), imaginary_sum = times(real, sine);
  if (t.parts == 2) {
    const Term imaginary = entry(moved, e.integer(DType::i64, 1), -1);
    real_sum = real_sum - times(imaginary, sine);
    imaginary_sum = imaginary_sum + times(imaginary, cosine);
  }
  const Term sums = with_dtype(paired(real_sum, imaginary_sum), x.dtype);
  return inverse_transpose(t.is_inverse ? sums / static_cast<double>(t.length) : sums, order);
}

// The runtime requires an axis before the transformed one.
Term transformed(const Term& x, const Transform& t) {
  Emitter& e = *x.emitter;
  if (!is_power_of_two(t.length)) return summed(x, t);
  Attributes attributes{attribute("inverse", t.is_inverse ? 1 : 0), attribute("onesided", t.is_half ? 1 : 0)};
  Terms inputs{unsqueeze(x, {0})};
  if (e.opset() < 20) {
    attributes.push_back(attribute("axis", t.axis + 1));
  } else {
    inputs.push_back(Term{});
    inputs.push_back(e.integer(DType::i64, t.axis + 1));
  }
  return squeeze(e.node("DFT", x.dtype, inputs, attributes), {0});
}

// The full transform of real values from its first half: the rest are conjugates in reverse order.
Term completed(const Term& half, std::int64_t axis, std::int64_t length) {
  Emitter& e = *half.emitter;
  const std::int64_t missing = length - length / 2 - 1;
  const Term first = slice(half, {axis}, e.integers({0}), e.integers({length / 2 + 1}), {1});
  if (missing <= 0) return first;
  const Term others = slice(half, {axis}, e.integers({missing}), e.integers({0}), {-1});
  const Term sign =
      concatenate({expand(e.scalar(half.dtype, 1), {Dim(1)}), expand(e.scalar(half.dtype, -1), {Dim(1)})}, 0);
  return concatenate({first, others * sign}, axis);
}

Terms fft(const Call& c) {
  const auto& [kind, lengths] = c.as<graph::Fft>();
  const auto rank = static_cast<std::int64_t>(c.shape().rank()), count = static_cast<std::int64_t>(lengths.size());
  const bool is_inverse = kind == FftKind::ifft || kind == FftKind::irfft;
  Term x = with_dtype(c[0], part_dtype(c[0].dtype));
  if (std::ranges::find(c.result().dims, Dim(0)) != c.result().dims.end()) {  // DFT rejects empty inputs
    Dims dims = c.result().dims;
    if (kind != FftKind::irfft) dims.push_back(2);
    return {with_dtype(filled(c.e, x.dtype, 0, dims), c.result().dtype)};
  }
  const auto length = [&](std::int64_t axis) { return lengths[static_cast<std::size_t>(axis - rank + count)]; };
  const std::int64_t last = rank - 1;
  if (kind == FftKind::rfft) x = transformed(unsqueeze(x, {-1}), {last, length(last), rank, 1, false, true});
  const bool is_real = kind == FftKind::rfft || kind == FftKind::irfft;
  for (std::int64_t axis = rank - count; axis < (is_real ? last : rank); ++axis)
    x = transformed(x, {axis, length(axis), rank, 2, is_inverse, false});
  if (kind == FftKind::irfft) {
    x = transformed(completed(x, last, length(last)), {last, length(last), rank, 2, true, false});
    return {part(with_dtype(x, c[0].dtype), 0)};
  }
  return {with_dtype(x, pair_dtype(x.dtype))};
}

std::string refuse_fft(const graph::Graph& /*graph*/, const graph::Node& node, int /*opset*/) {
  const Numbers& lengths = std::get<graph::Fft>(node.attributes).lengths;
  if (lengths.empty()) return "no axis is transformed";
  for (const std::int64_t length : lengths) {
    if (!is_power_of_two(length) && length > kMostSummed)
      return "DFT is far off for lengths that are no powers of two, and this one is too long for sums";
  }
  return "";
}

constexpr graph::DTypeSet kC = graph::kComplex;

constexpr Spelling kComplexRows[] = {
    {Op::complex, kFloats, "Unsqueeze, Concat", complex},
    {Op::real, kC, "Gather", real},
    {Op::imag, kC, "Gather", imag},
    {Op::conj, kC, "Gather, Neg, Concat", conj},
    {Op::neg, kC, "Neg"},
    {Op::add, kC, "Add"},
    {Op::sub, kC, "Sub"},
    {Op::mul, kC, "Gather, Mul, Concat", mul},
    {Op::fft, kC | kFloats, "DFT", fft, refuse_fft},
};

}  // namespace

std::span<const Spelling> complex_spellings() { return kComplexRows; }

}  // namespace alate::exchange::onnx
