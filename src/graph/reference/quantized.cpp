#include <algorithm>
#include <cmath>

#include "graph/reference/call.h"
#include "graph/reference/epilogue.h"
#include "graph/reference/matmul.h"
#include "graph/reference/strided.h"
#include "graph/reference/values.h"
#include "tensor/encoding.h"

namespace alate::graph {
namespace {

// The numbers that the operands from `first` on store.
template <typename Attribute>
Tensor numbers_of(const ReferenceCall& call, std::size_t first, const Attribute& attribute, DType dtype) {
  const bool has_scales =
      attribute.encoding == tensor::EncodingKind::linear || attribute.encoding == tensor::EncodingKind::nf4;
  return tensor::dequantize({attribute.encoding, attribute.blocks}, call.operand(first),
                            has_scales ? call.operand(first + 1) : Tensor(),
                            attribute.has_zero_points ? call.operand(first + 2) : Tensor(), dtype);
}

// x · smoothing, and each run of `length` numbers of it rounded to 8 bits (0: not at all), as numbers of Float.
template <typename Float>
std::vector<double> activations_of(const ReferenceCall& call, const QuantizedDense& dense) {
  std::vector<double> x = load_floats(call.operand(0));
  if (dense.has_smoothing) {
    const std::vector<double> smoothing = load_floats(call.operand(1));
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<Float>(x[i]) * static_cast<Float>(smoothing[i % smoothing.size()]);
  }
  if (dense.activation_runs == 0) return x;
  const auto length = static_cast<std::size_t>(call.operand(0).shape().dims.back().number() / dense.activation_runs);
  for (std::size_t first = 0; first < x.size(); first += length) {
    const std::span<double> run = std::span(x).subspan(first, length);
    Float least = static_cast<Float>(run[0]), greatest = least;
    for (const double value : run) {
      least = std::min(least, static_cast<Float>(value));
      greatest = std::max(greatest, static_cast<Float>(value));
    }
    const Float step = std::max((greatest - least) / static_cast<Float>(QuantizedDense::kRunSteps),
                                static_cast<Float>(QuantizedDense::kLeastRunStep));
    const Float inverse = 1 / step;
    for (double& value : run)
      value = std::nearbyint((static_cast<Float>(value) - least) * inverse) * double{step} + double{least};
  }
  return x;
}

}  // namespace

Tensor reference_dequantize(const ReferenceCall& call) {
  return numbers_of(call, 0, call.as<Dequantize>(), call.shape().dtype);
}

// The weight is f32, or f64 with x of f64: a narrower x does not round it.
Tensor reference_quantized_dense(const ReferenceCall& call) {
  const QuantizedDense& dense = call.as<QuantizedDense>();
  const Tensor& x = call.operand(0);
  const bool is_wide = x.dtype() == DType::f64;
  const Tensor weight = numbers_of(call, dense.has_smoothing ? 2 : 1, dense, is_wide ? DType::f64 : DType::f32);
  const std::int64_t columns = weight.extent(0), inner = weight.extent(1);
  const std::vector<std::int64_t> extents = extents_of(x.shape());
  const std::int64_t rows = product(std::span(extents).first(x.rank() - 1));
  std::vector<double> result(static_cast<std::size_t>(rows * columns));
  matmul({rows, inner, columns},
         (is_wide ? activations_of<double>(call, dense) : activations_of<float>(call, dense)).data(),
         load_floats(transposed(weight, Numbers{1, 0})).data(), result.data());
  add_epilogue(dense, call.operands, result);
  return store_floats(call.shape(), result);
}

Tensor reference_quantized_embedding(const ReferenceCall& call) {
  const Tensor table = numbers_of(call, 1, call.as<Dequantize>(), call.shape().dtype);
  const auto row_bytes = static_cast<std::size_t>(table.extent(1)) * (bits_of(table.dtype()) / 8);
  Tensor result = Tensor::uninitialized(call.shape());
  std::byte* to = result.mutable_bytes().data();
  for (const std::int64_t index : load_places(call.operand(0))) {
    const auto row = static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, table.extent(0) - 1));
    const auto bytes = table.bytes().subspan(row * row_bytes, row_bytes);
    to = std::copy(bytes.begin(), bytes.end(), to);
  }
  return result;
}

}  // namespace alate::graph
