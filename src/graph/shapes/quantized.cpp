#include <algorithm>
#include <bit>
#include <cstdint>

#include "graph/op.h"
#include "graph/operands.h"
#include "graph/shapes/rules.h"
#include "tensor/encoding.h"

namespace alate::graph {
namespace {

using tensor::EncodingKind;

// The number of scales along an axis of this extent.
Dim scale_extent(const InferenceInput& input, std::size_t axis, Dim extent, std::int64_t block) {
  const std::string where = "blocks[" + std::to_string(axis) + "]";
  input.require(block >= 0, where + " must not be negative");
  if (block == 0) return 1;
  if (block == 1) return extent;
  input.require(extent.is_number(), where + " must be 0 or 1 along a named dim");
  return extent.number() / block + (extent.number() % block == 0 ? 0 : 1);
}

// The dims of the numbers that operands at these places (`stored`, `scales` and `zero_points`) store.
template <typename Places>
Dims stored_dims(const InferenceInput& input, const Places& at, EncodingKind encoding, const Numbers& blocks) {
  const Shape& stored = input.operands[at.stored];
  const std::string name = "operand " + std::to_string(at.stored);
  Dims dims = stored.dims;
  if (encoding == EncodingKind::linear) {
    input.require(tensor::can_be_linear(stored.dtype), name + " must be integers of up to 32 bits or small floats");
  } else {
    input.require(stored.dtype == DType::u8 && stored.rank() >= 1 && stored.dims.back().is_number(),
                  name + " must be bytes (u8) with a number as last extent");
    const auto block = tensor::block_size(encoding);
    const std::int64_t bytes = stored.dims.back().number();
    input.require(bytes % block.bytes == 0,
                  name + " must have whole blocks of " + std::to_string(block.bytes) + " bytes in its last axis");
    input.require(bytes / block.bytes <= INT64_MAX / block.elements, name + " stores too many numbers");
    dims.back() = bytes / block.bytes * block.elements;
  }
  if (!at.scales) {
    input.require(blocks.empty() && !at.zero_points,
                  "this encoding has its scales in its blocks: blocks must be empty, without zero points");
    return dims;
  }
  input.require(encoding == EncodingKind::linear || !at.zero_points, "nf4 has no zero points");
  input.require(blocks.size() == dims.size(), "blocks must have an entry for each axis of " + name);
  Dims scale_dims;
  for (std::size_t i = 0; i < dims.size(); ++i) scale_dims.push_back(scale_extent(input, i, dims[i], blocks[i]));
  const Shape& scales = input.operands[*at.scales];
  input.require(
      contains(kFloats, scales.dtype) && scales.dims == scale_dims,
      "scales must be floats, a scale for each block: " +
          input.dims.to_string(Shape{contains(kFloats, scales.dtype) ? scales.dtype : DType::f32, scale_dims}));
  if (at.zero_points) {
    input.require(input.operands[*at.zero_points] == Shape{stored.dtype, scale_dims},
                  "zero points must have " + name + "'s dtype and the scales' dims");
  }
  return dims;
}

}  // namespace

std::vector<Shape> infer_dequantize(const InferenceInput& input) {
  const Dequantize& attributes = input.as<Dequantize>();
  input.require(input.operands.size() == operand_count<DequantizeOperands>(attributes),
                "operands must be what is stored, then scales and zero points as the encoding says");
  input.require(contains(kFloats, attributes.dtype), "dtype must be a float's");
  return {{attributes.dtype,
           stored_dims(input, places_of<DequantizeOperands>(attributes), attributes.encoding, attributes.blocks)}};
}

std::vector<Shape> infer_quantized_dense(const InferenceInput& input) {
  const QuantizedDense& attributes = input.as<QuantizedDense>();
  input.require(input.operands.size() == operand_count<QuantizedDenseOperands>(attributes),
                "operands must be x, smoothing as the attribute says, what is stored of the weight, scales and zero "
                "points as the encoding says, then bias and residual as the attributes say");
  const auto at = places_of<QuantizedDenseOperands>(attributes);
  const Shape& x = input.operands[at.x];
  const Dims weight = stored_dims(input, at, attributes.encoding, attributes.blocks);
  input.require(x.rank() >= 1 && weight.size() == 2 && weight[1] == x.dims.back(),
                "the weight must be [out, in] with x's last axis as in");
  if (at.bias)
    input.require(input.operands[*at.bias] == Shape{x.dtype, {weight[0]}}, "bias must be [out] of x's dtype");
  if (at.smoothing)
    input.require(input.operands[*at.smoothing] == Shape{x.dtype, {weight[1]}}, "smoothing must be [in] of x's dtype");
  const std::int64_t groups = attributes.activation_groups;
  input.require(groups >= 0, "activation_groups must not be negative");
  if (groups > 0)
    input.require(weight[1].is_number() && weight[1].number() > 0 && weight[1].number() % groups == 0,
                  "activation_groups must divide x's last extent");
  input.require(groups > 0 || !attributes.has_symmetric_groups, "symmetric groups need activation_groups");
  const std::int64_t rotation = attributes.rotation;
  input.require(rotation == 0 || (rotation > 0 && std::has_single_bit(static_cast<std::uint64_t>(rotation))),
                "rotation must be 0 or a power of two");
  if (rotation > 1)
    input.require(weight[1].is_number() && weight[1].number() / std::max<std::int64_t>(groups, 1) % rotation == 0,
                  "rotation must divide x's last extent, and the length of its groups");
  Shape result = x;
  result.dims.back() = weight[0];
  if (at.residual)
    input.require(input.operands[*at.residual] == result, "the last operand, residual, must have the result's shape");
  return {result};
}

std::vector<Shape> infer_quantized_embedding(const InferenceInput& input) {
  const Dequantize& attributes = input.as<Dequantize>();
  input.require(input.operands.size() == operand_count<QuantizedEmbeddingOperands>(attributes),
                "operands must be indices, what is stored of the table, then scales and zero points as the encoding "
                "says");
  input.require(contains(kFloats, attributes.dtype), "dtype must be a float's");
  const auto at = places_of<QuantizedEmbeddingOperands>(attributes);
  const Dims table = stored_dims(input, at, attributes.encoding, attributes.blocks);
  input.require(table.size() == 2 && table[0] != Dim(0), "the table must be [1 or more rows, width]");
  Shape result{attributes.dtype, input.operands[at.indices].dims};
  result.dims.push_back(table[1]);
  return {result};
}

}  // namespace alate::graph
