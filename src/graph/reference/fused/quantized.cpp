#include <algorithm>
#include <cmath>

#include "graph/reference/call.h"
#include "graph/reference/fused/epilogue.h"
#include "graph/reference/matmul.h"
#include "graph/reference/strided.h"
#include "graph/reference/values.h"
#include "tensor/encoding.h"
#include "tensor/rotation.h"

namespace alate::graph {
namespace {

// Dequantizes the operands from `first` on.
template <typename Attribute>
Tensor numbers_of(const ReferenceCall& call, std::size_t first, const Attribute& attribute, DType dtype) {
  const bool has_scales =
      attribute.encoding == tensor::EncodingKind::linear || attribute.encoding == tensor::EncodingKind::nf4;
  return tensor::dequantize({attribute.encoding, attribute.blocks}, call.operand(first),
                            has_scales ? call.operand(first + 1) : Tensor(),
                            attribute.has_zero_points ? call.operand(first + 2) : Tensor(), dtype);
}

// x · smoothing, rotated, and each group quantized to 8 bits, as the attributes say, computed in Float.
template <typename Float>
std::vector<double> activations_of(const ReferenceCall& call, const QuantizedDense& dense) {
  const std::vector<double> wide = load_floats(call.operand(0));
  std::vector<Float> x(wide.begin(), wide.end());
  if (dense.has_smoothing) {
    const std::vector<double> smoothing = load_floats(call.operand(1));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= static_cast<Float>(smoothing[i % smoothing.size()]);
  }
  if (dense.rotation > 1) tensor::rotate(std::span(x), static_cast<std::size_t>(dense.rotation));
  if (dense.activation_groups == 0) return {x.begin(), x.end()};
  std::vector<double> rounded;
  rounded.reserve(x.size());
  const auto length = static_cast<std::size_t>(call.operand(0).shape().dims.back().number() / dense.activation_groups);
  for (std::size_t first = 0; first < x.size(); first += length) {
    const std::span<const Float> run = std::span(x).subspan(first, length);
    Float least = run[0], greatest = least;
    for (const Float value : run) {
      least = std::min(least, value);
      greatest = std::max(greatest, value);
    }
    const Float step = std::max((greatest - least) / static_cast<Float>(QuantizedDense::kGroupSteps),
                                static_cast<Float>(QuantizedDense::kMinGroupStep));
    const Float inverse = 1 / step;
    for (const Float value : run)
      rounded.push_back(std::nearbyint((value - least) * inverse) * double{step} + double{least});
  }
  return rounded;
}

}  // namespace

Tensor reference_dequantize(const ReferenceCall& call) {
  return numbers_of(call, 0, call.as<Dequantize>(), call.shape().dtype);
}

// The weight is f32, or f64 if x is f64: a narrower x does not round it.
Tensor reference_quantized_dense(const ReferenceCall& call) {
  const QuantizedDense& dense = call.as<QuantizedDense>();
  const Tensor& x = call.operand(0);
  const bool is_wide = x.dtype() == DType::f64;
  const Tensor weight = numbers_of(call, dense.has_smoothing ? 2 : 1, dense, is_wide ? DType::f64 : DType::f32);
  const std::int64_t columns = weight.extent(0), inner = weight.extent(1);
  const std::vector<std::int64_t> extents = extents_of(x.shape());
  const std::int64_t rows = product(std::span(extents).first(x.rank() - 1));
  std::vector<double> result(static_cast<std::size_t>(rows * columns));
  matmul({rows, inner, columns}, is_wide ? activations_of<double>(call, dense) : activations_of<float>(call, dense),
         load_floats(transposed(weight, Numbers{1, 0})), result);
  add_epilogue(dense, call.operands, result);
  return store_floats(call.shape(), result);
}

Tensor reference_quantized_embedding(const ReferenceCall& call) {
  const Tensor table = numbers_of(call, 1, call.as<Dequantize>(), call.shape().dtype);
  const auto row_bytes = static_cast<std::size_t>(table.extent(1)) * (bits_of(table.dtype()) / 8);
  Tensor result = Tensor::uninitialized(call.shape());
  std::byte* to = result.mutable_bytes().data();
  for (const std::int64_t index : load_indices(call.operand(0))) {
    const auto row = static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, table.extent(0) - 1));
    const auto bytes = table.bytes().subspan(row * row_bytes, row_bytes);
    to = std::copy(bytes.begin(), bytes.end(), to);
  }
  return result;
}

}  // namespace alate::graph
