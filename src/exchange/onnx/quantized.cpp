// dequantize: integers, or indices into a table of floats, times their blocks' scales.
#include "exchange/onnx/bits_of_floats.h"
#include "exchange/onnx/layout.h"
#include "exchange/onnx/spelling.h"
#include "graph/operands.h"
#include "tensor/normal_float.h"

namespace alate::exchange::onnx {
namespace {

using graph::Op;
using tensor::EncodingKind;

// Repeats one value per block to all elements of the block.
Term repeated(const Term& x, const Dims& dims, const Numbers& blocks) {
  Emitter& e = *x.emitter;
  Term result = x;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (blocks[i] <= 1) continue;  // ONNX broadcasts a single one along the axis
    const auto axis = static_cast<std::int64_t>(i);
    std::vector<std::int64_t> copies(dims.size() + 1, 1);
    copies[i + 1] = blocks[i];
    const Term copied = e.node("Expand", result.dtype, {unsqueeze(result, {axis + 1}), e.integers(copies)});
    Term shape = shape_of(result);
    shape = e.node("ScatterElements", DType::i64, {shape, e.integers({axis}), e.integers({-1})});
    const Term all = e.node("Reshape", result.dtype, {copied, shape});
    result = slice(all, {axis}, e.integers({0}), e.extent(dims[i]), {1});
  }
  return result;
}

Term table_values(const Call& c, const Term& places) {
  Terms values;
  for (const float value : tensor::kNormalFloat4)
    values.push_back(expand(c.e.scalar(DType::f32, static_cast<double>(value)), {Dim(1)}));
  return entry(concatenate(values, 0), places);
}

// For each byte, the number in the high nibble, then the one in the low nibble.
Term normal_floats(const Call& c, const Term& stored) {
  const Term bytes = to(stored, DType::i64);
  const Term high = shift_right_logical(bytes, c.e.integer(DType::i64, 4)), low = bytes & c.e.integer(DType::i64, 15);
  return table_values(c, reshape(concatenate({unsqueeze(high, {-1}), unsqueeze(low, {-1})}, -1), c.result().dims));
}

Terms dequantize(const Call& c) {
  const auto& attributes = c.as<graph::Dequantize>();
  const auto at = graph::places_of<graph::DequantizeOperands>(attributes);
  const Term &stored = c[at.stored], &scales = c[*at.scales];  // refuse_dequantize has seen to the scales
  const DType computed = scales.dtype == DType::f64 ? DType::f64 : DType::f32;
  const Dims& dims = c.result().dims;
  const auto for_each = [&](const Term& x) { return repeated(x, dims, attributes.blocks); };
  Term numbers;
  if (attributes.encoding == EncodingKind::nf4) {
    numbers = normal_floats(c, stored);
  } else {
    numbers = to(stored, DType::i64);
    if (at.zero_points) numbers = numbers - for_each(to(c[*at.zero_points], DType::i64));
  }
  const Term products = to(numbers, computed) * for_each(to(scales, computed));
  const bool is_half = attributes.dtype == DType::f16 || attributes.dtype == DType::bf16;
  return {is_half ? narrowed(products, attributes.dtype) : to(products, attributes.dtype)};
}

std::string refuse_dequantize(const graph::Graph& graph, const graph::Node& node, int opset) {
  const auto& attributes = std::get<graph::Dequantize>(node.attributes);
  const std::optional<graph::Value> scales = graph::DequantizeOperands<>::of(node).scales;
  if (!scales) return "no operators read blocks of " + std::string(tensor::to_string(attributes.encoding));
  const DType scale = graph.shape(*scales).dtype;
  return scale == DType::f64 && narrows_by_bits(scale, attributes.dtype) ? needs_bits(graph, node, opset) : "";
}

constexpr Spelling kQuantizedRows[] = {
    {Op::dequantize, kMoved& graph::kInts & ~(graph::set_of(DType::i64) | graph::set_of(DType::u64)), "Cast, Sub, Mul",
     dequantize, refuse_dequantize},
};

}  // namespace

std::span<const Spelling> quantized_spellings() { return kQuantizedRows; }

}  // namespace alate::exchange::onnx
