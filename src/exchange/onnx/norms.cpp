// Normalizations, and fused ops with an equivalent ONNX operator.
#include "exchange/onnx/layout.h"
#include "exchange/onnx/spelling.h"

namespace alate::exchange::onnx {
namespace {

using graph::Op;
using graph::set_of;

// One number per index of an axis, broadcast against x.
struct Channels {
  const Call& c;
  std::size_t rank = c.shape().rank();
  std::size_t axis = static_cast<std::size_t>(c.as<graph::BatchNorm>().axis);
  Numbers others = other_axes(rank, {static_cast<std::int64_t>(axis)});

  Term beside(const Term& values) const { return along_axis(values, rank, axis); }
  Term sum(const Term& x) const {
    if (others.empty()) return x;
    return c.e.node("ReduceSum", x.dtype, {x, c.e.integers(others)}, {attribute("keepdims", 0)});
  }
  Term count() const { return to(scalar_product_of(c.e, picked(c.shape().dims, others)), c[0].dtype); }
  Term root(const Term& variance) const {
    const Term spread = variance + c.as<graph::BatchNorm>().epsilon;
    return c.e.node("Sqrt", spread.dtype, {spread});
  }
};

Terms batch_norm_inference(const Call& c) {
  const Channels channels{c};
  const Term normal = (c[0] - channels.beside(c[3])) / channels.beside(channels.root(c[4]));
  return {normal * channels.beside(c[1]) + channels.beside(c[2])};
}

Terms batch_norm_training(const Call& c) {
  const Channels channels{c};
  const Term count = channels.count();
  const Term mean = channels.sum(c[0]) / count, centered = c[0] - channels.beside(mean);
  const Term variance = channels.sum(centered * centered) / count;
  const Term normal = centered / channels.beside(channels.root(variance));
  return {normal * channels.beside(c[1]) + channels.beside(c[2]), mean, variance};
}

// https://openxla.org/stablehlo/spec#batch_norm_grad
Terms batch_norm_gradient(const Call& c) {
  const Channels channels{c};
  const Term &scale = c[1], &gradient = c[4];
  const Term root = channels.root(c[3]), centered = c[0] - channels.beside(c[2]), count = channels.count();
  const Term of_shift = channels.sum(gradient), products = channels.sum(gradient * centered);
  const Term spread = c[3] + c.as<graph::BatchNorm>().epsilon;
  const Term rest = gradient * count - channels.beside(of_shift) - channels.beside(products / spread) * centered;
  return {channels.beside(scale / root / count) * rest, products / root, of_shift};
}

template <bool kLog>
Terms softmax(const Call& c) {
  return {c.e.node(kLog ? "LogSoftmax" : "Softmax", c[0].dtype, {c[0]}, {attribute("axis", c.as<graph::Axis>().axis)})};
}

Terms layer_norm(const Call& c) {
  return {c.e.node("LayerNormalization", c[0].dtype, c.operands,
                   {attribute("axis", -1), float_attribute("epsilon", c.as<graph::Norm>().epsilon)})};
}

Terms gelu(const Call& c) {
  const std::string_view form = c.as<graph::Gelu>().tanh_approximation ? "tanh" : "none";
  return {c.e.node("Gelu", c[0].dtype, {c[0]}, {attribute("approximate", form)})};
}

std::string refuse_gelu(const graph::Graph& /*graph*/, const graph::Node& /*node*/, int opset) {
  return opset >= 20 ? "" : "Gelu came with opset 20";
}

constexpr graph::DTypeSet kF32 = set_of(DType::f32);

constexpr Spelling kNormRows[] = {
    {Op::batch_norm_inference, kFloats, "Sub, Div, Mul, Add", batch_norm_inference},
    {Op::batch_norm_training, kFloats, "ReduceSum, Sub, Div, Mul, Add", batch_norm_training},
    {Op::batch_norm_gradient, kFloats, "ReduceSum, Sub, Div, Mul", batch_norm_gradient},
    {Op::softmax, kFloats, "Softmax", softmax<false>},
    {Op::log_softmax, kF32, "LogSoftmax", softmax<true>},      // in f64, it loses NaN
    {Op::layer_norm, kF32, "LayerNormalization", layer_norm},  // its epsilon is an f32
    {Op::gelu, kF32, "Gelu", gelu, refuse_gelu},
};

}  // namespace

std::span<const Spelling> norm_spellings() { return kNormRows; }

}  // namespace alate::exchange::onnx
