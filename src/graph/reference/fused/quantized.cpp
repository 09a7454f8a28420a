#include <algorithm>
#include <cmath>

#include "graph/operands.h"
#include "graph/reference/call.h"
#include "graph/reference/fused/epilogue.h"
#include "graph/reference/matmul.h"
#include "graph/reference/strided.h"
#include "graph/reference/values.h"
#include "tensor/encoding.h"
#include "tensor/rotation.h"

namespace alate::graph {
namespace {

// The numbers that the operands store.
template <typename Attribute, typename Operands>
Tensor numbers_of(const Attribute& attribute, const Operands& operands, DType dtype) {
  return tensor::dequantize({attribute.encoding, attribute.blocks}, operands.stored, operands.scales.value_or(Tensor()),
                            operands.zero_points.value_or(Tensor()), dtype);
}

// Multiples of a step, and what is added to them.
template <typename Float>
struct Levels {
  Float step, offset;
};

template <typename Float>
Levels<Float> levels_of(const QuantizedDense& dense, std::span<const Float> group) {
  Float least = group[0], greatest = least;
  for (const Float value : group) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  const Float range = dense.has_symmetric_groups ? std::max(-least, greatest) : greatest - least;
  const double steps = dense.has_symmetric_groups ? QuantizedDense::kSymmetricSteps : QuantizedDense::kGroupSteps;
  return {std::max(range / static_cast<Float>(steps), static_cast<Float>(QuantizedDense::kMinGroupStep)),
          dense.has_symmetric_groups ? Float(0) : least};
}

// x · smoothing, rotated, and each group quantized to 8 bits, as the attributes say, computed in Float.
template <typename Float>
std::vector<double> activations_of(const QuantizedDense& dense, const QuantizedDenseOperands<Tensor>& given) {
  const std::vector<double> wide = load_floats(given.x);
  std::vector<Float> x(wide.begin(), wide.end());
  if (given.smoothing) {
    const std::vector<double> smoothing = load_floats(*given.smoothing);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= static_cast<Float>(smoothing[i % smoothing.size()]);
  }
  if (dense.rotation > 1) tensor::rotate(std::span(x), static_cast<std::size_t>(dense.rotation));
  if (dense.activation_groups == 0) return {x.begin(), x.end()};
  std::vector<double> rounded;
  rounded.reserve(x.size());
  const auto length = static_cast<std::size_t>(given.x.shape().dims.back().number() / dense.activation_groups);
  for (std::size_t first = 0; first < x.size(); first += length) {
    const std::span<const Float> run = std::span(x).subspan(first, length);
    const auto [step, offset] = levels_of(dense, run);
    const Float inverse = 1 / step;
    for (const Float value : run)
      rounded.push_back(std::nearbyint((value - offset) * inverse) * double{step} + double{offset});
  }
  return rounded;
}

}  // namespace

Tensor reference_dequantize(const ReferenceCall& call) {
  const auto& attributes = call.as<Dequantize>();
  return numbers_of(attributes, DequantizeOperands<Tensor>::of(attributes, call.operands), call.shape().dtype);
}

// The weight is f32, or f64 if x is f64: a narrower x does not round it.
Tensor reference_quantized_dense(const ReferenceCall& call) {
  const QuantizedDense& dense = call.as<QuantizedDense>();
  const auto given = QuantizedDenseOperands<Tensor>::of(dense, call.operands);
  const Tensor& x = given.x;
  const bool is_wide = x.dtype() == DType::f64;
  const Tensor weight = numbers_of(dense, given, is_wide ? DType::f64 : DType::f32);
  const std::int64_t columns = weight.extent(0), inner = weight.extent(1);
  const std::vector<std::int64_t> extents = extents_of(x.shape());
  const std::int64_t rows = product(std::span(extents).first(x.rank() - 1));
  std::vector<double> result(static_cast<std::size_t>(rows * columns));
  matmul({rows, inner, columns}, is_wide ? activations_of<double>(dense, given) : activations_of<float>(dense, given),
         load_floats(transposed(weight, Numbers{1, 0})), result);
  add_epilogue(dense.activation, given, result);
  return store_floats(call.shape(), result);
}

Tensor reference_quantized_embedding(const ReferenceCall& call) {
  const auto given = QuantizedEmbeddingOperands<Tensor>::of(call.as<Dequantize>(), call.operands);
  const Tensor table = numbers_of(call.as<Dequantize>(), given, call.shape().dtype);
  const auto row_bytes = static_cast<std::size_t>(table.extent(1)) * (bits_of(table.dtype()) / 8);
  Tensor result = Tensor::uninitialized(call.shape());
  std::byte* to = result.mutable_bytes().data();
  for (const std::int64_t index : load_indices(given.indices)) {
    const auto row = static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, table.extent(0) - 1));
    const auto bytes = table.bytes().subspan(row * row_bytes, row_bytes);
    to = std::copy(bytes.begin(), bytes.end(), to);
  }
  return result;
}

}  // namespace alate::graph
