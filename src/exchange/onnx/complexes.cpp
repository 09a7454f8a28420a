// Complex numbers as pairs along a last axis, and Fourier transforms.
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

Term part(const Term& z, std::int64_t which) {
  return entry(with_dtype(z, part_dtype(z.dtype)), z.emitter->integer(DType::i64, which), -1);
}

Term paired(const Term& real, const Term& imaginary) {
  const Term pair = concatenate({unsqueeze(real, {-1}), unsqueeze(imaginary, {-1})}, -1);
  return with_dtype(pair, pair_dtype(real.dtype));
}

Terms complex(const Call& c) { return {paired(c[0], c[1])}; }
Terms real(const Call& c) { return {part(c[0], 0)}; }
Terms imag(const Call& c) { return {part(c[0], 1)}; }
Terms conj(const Call& c) { return {paired(part(c[0], 0), -part(c[0], 1))}; }
Terms mul(const Call& c) {
  const Term a = part(c[0], 0), b = part(c[0], 1), x = part(c[1], 0), y = part(c[1], 1);
  return {paired(a * x - b * y, a * y + b * x)};
}

// Along one axis of values with a last axis of 1 or 2 parts. The runtime wants an axis before the one transformed.
Term transformed(const Term& x, std::int64_t axis, bool is_inverse, bool is_half) {
  Emitter& e = *x.emitter;
  const std::int64_t place = axis + 1;
  Attributes attributes{attribute("inverse", is_inverse ? 1 : 0), attribute("onesided", is_half ? 1 : 0)};
  Terms inputs{unsqueeze(x, {0})};
  if (e.opset() < 20) {
    attributes.push_back(attribute("axis", place));
  } else {
    inputs.push_back(Term{});
    inputs.push_back(e.integer(DType::i64, place));
  }
  return squeeze(e.node("DFT", x.dtype, inputs, attributes), {0});
}

// All of a transform of real values, of which the first half is known: the rest are conjugates in the opposite order.
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
  if (kind == FftKind::rfft) x = transformed(unsqueeze(x, {-1}), rank - 1, false, true);
  const bool is_half = kind == FftKind::rfft || kind == FftKind::irfft;
  for (std::int64_t axis = rank - count; axis < (is_half ? rank - 1 : rank); ++axis)
    x = transformed(x, axis, is_inverse, false);
  if (kind == FftKind::irfft) {
    x = transformed(completed(x, rank - 1, lengths.back()), rank - 1, true, false);
    return {part(with_dtype(x, c[0].dtype), 0)};
  }
  return {with_dtype(x, pair_dtype(x.dtype))};
}

std::string refuse_fft(const graph::Graph& /*graph*/, const graph::Node& node, int /*opset*/) {
  const auto& fft = std::get<graph::Fft>(node.attributes);
  if (fft.lengths.empty()) return "no axis is transformed";
  for (const Dim dim : node.results[0].dims) {
    if (dim == Dim(0)) return "DFT has no transforms of nothing";
  }
  return "";
}

constexpr graph::DTypeSet kC = graph::kComplex;

constexpr Spelling kRows[] = {
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

std::span<const Spelling> complex_spellings() { return kRows; }

}  // namespace alate::exchange::onnx
