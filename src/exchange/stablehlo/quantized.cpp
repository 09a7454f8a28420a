// dequantize, for every encoding.
#include "exchange/stablehlo/quantized_blocks.h"

#include "exchange/stablehlo/ops.h"
#include "exchange/stablehlo/rules.h"
#include "exchange/stablehlo/types.h"
#include "graph/operands.h"

namespace alate::exchange {
namespace {

using tensor::EncodingKind;

// Repeats one value per block, along every axis, to each number of the block.
HloValue repeated(HloWriter& w, const HloValue& blocks, const Numbers& sizes, const Numbers& extents) {
  Numbers split, mapping, joined;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t size = sizes[i] == 0 ? extents[i] : sizes[i];
    mapping.push_back(static_cast<std::int64_t>(split.size()));
    split.push_back(blocks.shape.dims[i].number());
    split.push_back(size);
    joined.push_back(split[2 * i] * size);
  }
  HloValue result = reshape(w, broadcast(w, blocks, split, mapping), joined);
  for (std::size_t i = 0; i < extents.size(); ++i) result = slice(w, result, i, 0, extents[i]);
  return result;
}

// Integers are subtracted exactly before they are converted to floats.
DType difference_dtype(DType stored, DType scaled) {
  if (is_float(stored)) return scaled;
  return bits_of(stored) < 32 ? DType::i32 : DType::i64;
}

}  // namespace

// As tensor::dequantize: computed in f32, or f64 if scales are f64, and rounded at the end.
HloValues write_dequantize(HloWriter& w, const HloCall& call) {
  const graph::Dequantize& attributes = call.as<graph::Dequantize>();
  const Numbers extents = extents_of(call.shape());
  const auto at = graph::places_of<graph::DequantizeOperands>(attributes);
  const HloValue& stored = call.operand(at.stored);
  if (!at.scales)
    return {convert(w, reshape(w, numbers_of_blocks(w, attributes.encoding, stored), extents), call.shape().dtype)};
  const HloValue& given_scales = call.operand(*at.scales);
  const DType wide = given_scales.shape.dtype == DType::f64 ? DType::f64 : DType::f32;
  HloValue numbers;
  if (attributes.encoding == EncodingKind::nf4) {
    numbers = convert(w, reshape(w, normal_floats(w, stored), extents), wide);
  } else {
    const DType exact = difference_dtype(stored.shape.dtype, DType::f32);
    numbers = convert(w, stored, exact);
    if (at.zero_points) {
      const HloValue zeros = repeated(w, convert(w, call.operand(*at.zero_points), exact), attributes.blocks, extents);
      numbers = like_first(w, "subtract", {numbers, zeros});
    }
    numbers = convert(w, numbers, wide);
  }
  const HloValue scales = repeated(w, convert(w, given_scales, wide), attributes.blocks, extents);
  return {convert(w, like_first(w, "multiply", {numbers, scales}), call.shape().dtype)};
}

}  // namespace alate::exchange
