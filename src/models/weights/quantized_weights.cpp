// Weights that are stored in 4 or 8 bits or quantized on load: their layers and constants.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "alate/error.h"
#include "graph/interpreter.h"
#include "graph/operands.h"
#include "models/weights/kept_weights.h"
#include "models/weights/weights.h"
#include "tensor/block_rounding.h"
#include "tensor/packed.h"
#include "tensor/rotation.h"
#include "tensor/row_rounding.h"

namespace alate::models {
namespace {

constexpr std::string_view kWeight = ".weight", kParametrizedWeight = ".parametrizations.weight.original";

// Stored names: beside "layer.weight" are "layer.weight_scale", "layer.weight_zero_point", "layer.bias" and
// "layer.smoothing".
std::string scale_name(const std::string& stored) { return stored + "_scale"; }
std::string zero_point_name(const std::string& stored) { return stored + "_zero_point"; }
std::string module_of(std::string_view stored) {
  const std::string_view end = stored.ends_with(kParametrizedWeight) ? kParametrizedWeight : kWeight;
  return std::string(stored.substr(0, stored.size() - end.size()));
}

// Input rounding for weights that are quantized on load. all-MiniLM-L6-v2 keeps a mean cosine of 0.9997 and a worst one
// of 0.9990 to float32 with rotated inputs, in one group; without rotation 0.9995 and 0.9985 in four groups, 0.9993 and
// 0.9961 in two. Group sizes are multiples of 16, as products of bytes need.
InputRounding rounding_on_load(std::int64_t in) {
  if (const std::int64_t rotation = tensor::rotation_of(in); rotation != 0) return {.groups = 1, .rotation = rotation};
  return {.groups = in % 32 == 0 ? 2 : 1};
}

void check_rounding(std::string_view stored, const InputRounding& inputs, std::int64_t in) {
  if (in % inputs.groups != 0)
    throw make_error(ErrorCode::corrupt, "config.json: activation_groups of '", module_of(stored), "' is ",
                     inputs.groups, ", which does not divide its ", in, " channels");
  if (inputs.rotation > 1 && in / inputs.groups % inputs.rotation != 0)
    throw make_error(ErrorCode::corrupt, "config.json: rotation of '", module_of(stored), "' is ", inputs.rotation,
                     ", which does not divide the ", in / inputs.groups, " channels of a run");
}

// The identity of a constant derived from another one: that constant's identity and a word.
Fingerprint identity_of(const Fingerprint& weight, std::string_view part) {
  return FingerprintBuilder().add(weight).add(part).finish();
}

graph::Value product(graph::Builder& b, graph::Value x, const Tensor& matrix) {
  return b.dense({x, b.constant(matrix)}, {.has_bias = false});
}

bool all_finite(const Tensor& tensor) {
  for (const float value : tensor.values<float>()) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

}  // namespace

std::vector<graph::ConstantPtr> Weights::StoredRows::operands() const {
  std::vector<graph::ConstantPtr> operands = {stored, scales};
  if (zero_points != nullptr) operands.push_back(zero_points);
  return operands;
}

bool Weights::is_stored_in_8_bits(std::string_view stored) const {
  return settings_.quantization.is_present && stored_shape(stored).dtype == DType::i8;
}

bool Weights::is_stored_unsigned(std::string_view stored) const {
  if (!settings_.quantization.is_present || encoding_of(stored)) return false;
  const DType dtype = stored_shape(stored).dtype;
  return dtype == DType::u4 || dtype == DType::u8;
}

graph::ConstantPtr Weights::scales_of(const std::string& stored) {
  const std::string scale = scale_name(stored);
  const Shape shape = stored_shape(stored);
  if (!holds(scale))
    throw make_error(ErrorCode::corrupt, "weight '", stored, "' is stored in ", bits_of(shape.dtype),
                     " bits, but its scales, '", scale, "', are missing");
  if (shape.rank() != 2)
    throw make_error(ErrorCode::corrupt, "weight '", stored, "' is ", to_string(shape),
                     " and has scales, which only a matrix may have");
  graph::ConstantPtr scales = leaf(scale);
  if (scales->shape.dtype == DType::f32 && !all_finite(scales->tensor))
    throw make_error(ErrorCode::corrupt, "'", scale, "' has numbers that are not finite");
  return scales;
}

Weights::StoredRows Weights::stored_rows(const std::string& stored, std::int64_t groups) {
  graph::ConstantPtr scales = scales_of(stored);
  const Shape shape = stored_shape(stored), found = scales->shape;
  const Shape of_rows{DType::f32, {shape.dims[0], 1}}, of_groups{DType::f32, {shape.dims[0], groups}};
  if (found != of_rows && found != of_groups)
    throw make_error(ErrorCode::corrupt, "'", scale_name(stored), "' is ", to_string(found), " beside a weight of ",
                     to_string(shape), ": it must be ", to_string(of_rows), ", a number for each row",
                     groups == 1 ? "" : ", or " + to_string(of_groups) + ", one for each of a row's activation_groups");
  const bool is_of_runs = found != of_rows;
  if (is_of_runs) check_rounding(stored, {.groups = groups}, shape.dims[1].number());
  return {.stored = leaf(stored),
          .scales = std::move(scales),
          .blocks = {1, is_of_runs ? shape.dims[1].number() / groups : 0}};
}

Weights::StoredRows Weights::unsigned_rows(const std::string& stored) {
  graph::ConstantPtr scales = scales_of(stored);
  const Shape shape = stored_shape(stored), found = scales->shape;
  const Dim out = shape.dims[0];
  const std::int64_t in = shape.dims[1].number(),
                     group = settings_.quantization.storage_of_module(module_of(stored)).group_size;
  if (group > 0 && in % group != 0)
    throw make_error(ErrorCode::corrupt, "config.json: group_size of '", module_of(stored), "' is ", group,
                     ", which does not divide its ", in, " columns");
  const Shape of_all{DType::f32, {1, 1}}, of_rows{DType::f32, {out, 1}},
      of_groups{DType::f32, {out, group > 0 ? in / group : 1}};
  if (found != of_all && found != of_rows && found != of_groups)
    throw make_error(ErrorCode::corrupt, "'", scale_name(stored), "' is ", to_string(found), " beside a weight of ",
                     to_string(shape), ": it must be ", to_string(of_all), ", ", to_string(of_rows),
                     " or, of groups of ", group > 0 ? group : in, " columns, ", to_string(of_groups));
  graph::Numbers blocks = {found.dims[0] == out ? 1 : 0, found.dims[1] == Dim(1) ? 0 : group};
  return {.stored = leaf(stored),
          .scales = std::move(scales),
          .blocks = std::move(blocks),
          .zero_points = zero_points(stored, found)};
}

// One byte for each scale; where there are none, the middle of the range, as for ONNX Runtime's MatMulNBits.
graph::ConstantPtr Weights::zero_points(const std::string& stored, const Shape& scales) {
  const std::string name = zero_point_name(stored);
  const DType dtype = stored_shape(stored).dtype;
  const std::uint8_t most = dtype == DType::u4 ? 15 : 255;
  const Shape shape{DType::u8, scales.dims};
  if (!holds(name)) {
    Tensor middle = Tensor::uninitialized(shape);
    std::ranges::fill(middle.mutable_values<std::uint8_t>(), static_cast<std::uint8_t>(most / 2 + 1));
    return graph::make_constant(name, tensor::packed(middle, dtype));
  }
  const Shape found = stored_shape(name);
  if (found != shape)
    throw make_error(ErrorCode::corrupt, "'", name, "' is ", to_string(found), ", not ", to_string(shape),
                     ": a zero point for each scale");
  graph::ConstantPtr given = leaf(name);
  if (dtype == DType::u8) return given;
  const std::span<const std::uint8_t> values = given->tensor.values<std::uint8_t>();
  if (std::ranges::any_of(values, [&](std::uint8_t value) { return value > most; }))
    throw make_error(ErrorCode::corrupt, "'", name, "' has zero points above 15, beside a weight in 4 bits");
  return graph::make_constant(name, tensor::packed(given->tensor, dtype), identity_of(given->identity, "in 4 bits"));
}

Weights::StoredRows Weights::rounded_rows(const std::string& stored, const InputRounding& inputs) {
  const graph::ConstantPtr floats = in_float32(stored);
  const Fingerprint identity = floats->identity;
  tensor::ScaledRows rows;
  std::int64_t of_run = 0;
  try {
    Tensor weight = graph::materialize(*floats);
    if (inputs.rotation > 1) {
      const auto length = static_cast<std::size_t>(inputs.rotation);
      weight = tensor::rotated_rows(weight, length, 1 / static_cast<float>(length));
    }
    rows = tensor::round_rows(weight, inputs.groups);
    of_run = rows.group_size();
  } catch (const Error& error) {
    throw make_error(error.code(), "weight '", stored, "': ", error.message());
  }
  return {.stored = graph::make_constant(stored, std::move(rows.stored), identity_of(identity, "rows in 8 bits")),
          .scales = graph::make_constant(scale_name(stored), std::move(rows.scales), identity_of(identity, "scales")),
          .blocks = {1, inputs.groups == 1 ? 0 : of_run}};
}

graph::ConstantPtr Weights::smoothing(const std::string& module, std::int64_t in) {
  const std::string stored = module + ".smoothing";
  if (!holds(stored)) return nullptr;
  const Shape found = stored_shape(stored);
  if (found != Shape{DType::f32, {in}})
    throw make_error(ErrorCode::corrupt, "'", stored, "' is ", to_string(found), ", not f32[", in,
                     "]: a number for each channel");
  used_.insert(stored);
  // Identified by its values: layers that share an input and its smoothing round the input once.
  const Tensor* other = replacement(stored);
  graph::ConstantPtr constant = graph::make_constant(stored, other != nullptr ? *other : source_.tensor(stored));
  if (!all_finite(constant->tensor))
    throw make_error(ErrorCode::corrupt, "'", stored, "' has numbers that are not finite");
  return constant;
}

graph::Value Weights::quantized_linear(graph::Builder& b, const std::string& stored, const LinearLayer& layer,
                                       graph::ConstantPtr smoothing, std::optional<graph::Value> bias) {
  const bool is_stored = is_stored_in_8_bits(stored);
  const InputRounding inputs =
      is_stored ? settings_.quantization.rounding_of(layer.module) : rounding_on_load(layer.in);
  check_rounding(stored, inputs, layer.in);
  StoredRows rows = is_stored ? stored_rows(stored, inputs.groups) : rounded_rows(stored, inputs);
  graph::QuantizedDense attributes{
      .blocks = std::move(rows.blocks), .activation_groups = inputs.groups, .rotation = inputs.rotation};
  graph::QuantizedDenseOperands<> operands{.x = layer.x};
  if (smoothing != nullptr) operands.smoothing = b.constant(std::move(smoothing));
  operands.stored = b.constant(std::move(rows.stored));
  operands.scales = b.constant(std::move(rows.scales));
  operands.bias = bias;
  return b.quantized_dense(operands.list(), operands.flagged(std::move(attributes)));
}

std::optional<Weights::StoredBlocks> Weights::stored_blocks(const std::string& stored) {
  const std::optional<tensor::EncodingKind> kind = encoding_of(stored);
  if (!kind || settings_.dtype != ComputeType::as_stored || change_of(stored).has_one_added) return std::nullopt;
  return StoredBlocks{*kind, leaf(stored)};
}

std::optional<Weights::StoredBlocks> Weights::blocks_of(const std::string& stored, const LinearLayer& layer) {
  const std::optional<tensor::EncodingKind> wanted = settings_.blocks();
  if (!wanted) return stored_blocks(stored);
  if (layer.rounding == Rounding::never || layer.in % block_size(*wanted).elements != 0) return std::nullopt;
  if (encoding_of(stored) == wanted) return StoredBlocks{*wanted, leaf(stored)};
  const graph::ConstantPtr floats = in_float32(stored);
  try {
    return StoredBlocks{*wanted,
                        graph::make_constant(stored, tensor::round_to_blocks(graph::materialize(*floats), *wanted),
                                             identity_of(floats->identity, tensor::to_string(*wanted)))};
  } catch (const Error& error) {
    throw make_error(error.code(), "weight '", stored, "': ", error.message());
  }
}

// Inputs are rounded in groups of the smallest blocks, which all widths of blocks are multiples of.
graph::Value Weights::block_linear(graph::Builder& b, StoredBlocks weight, const LinearLayer& layer,
                                   std::optional<graph::Value> bias) {
  constexpr std::int64_t kGroup = 32;
  const bool rounds = settings_.activations == BlockActivations::int8;
  const graph::QuantizedDenseOperands<> operands{
      .x = layer.x, .stored = b.constant(std::move(weight.stored)), .bias = bias};
  return b.quantized_dense(operands.list(), operands.flagged({.encoding = weight.kind,
                                                              .activation_groups = rounds ? layer.in / kGroup : 0,
                                                              .has_symmetric_groups = rounds}));
}

// The weight in f32, in the form for products with x.
graph::ConstantPtr Weights::weight_of(const std::string& stored, graph::ConstantPtr smoothing) {
  const InputRounding inputs = settings_.quantization.rounding_of(module_of(stored));
  graph::ConstantPtr weight = in_float32(stored, inputs.groups);
  if (is_stored_in_8_bits(stored) && inputs.rotation > 1) {
    check_rounding(stored, inputs, weight->shape.dims[1].number());
    const Fingerprint identity = identity_of(weight->identity, "rotated by " + std::to_string(inputs.rotation));
    weight = graph::make_constant(
        stored, tensor::rotated_rows(graph::materialize(*weight), static_cast<std::size_t>(inputs.rotation), 1),
        identity);
  }
  if (smoothing == nullptr) return weight;
  const Shape shape = weight->shape;
  graph::ConstantPtr factors =
      graph::make_constant(graph::Op::broadcast_in_dim, graph::BroadcastInDim{.dims = shape.dims, .mapping = {1}},
                           shape, {std::move(smoothing)});
  return graph::make_constant(graph::Op::mul, graph::NoAttributes(), shape, {std::move(weight), std::move(factors)});
}

graph::Value Weights::linear(graph::Builder& b, const std::string& name, graph::Value x, std::int64_t in,
                             std::int64_t out, Rounding rounding, Bias bias_rule) {
  const std::string stored = require(name + std::string(kWeight), {out, in});
  LinearLayer layer{.module = module_of(stored), .in = in, .out = out, .x = x, .y = {}, .rounding = rounding};
  std::optional<graph::Value> bias;
  if (bias_rule == Bias::required || has(name + ".bias")) bias = get(b, name + ".bias", {out});
  layer.y = weighted(b, stored, layer, bias);
  layers_.push_back(layer);
  const LowRank* added = adaptation(name);
  return added == nullptr ? layer.y : b.add({layer.y, product(b, product(b, x, added->down), added->up)});
}

graph::Value Weights::scores(graph::Builder& b, const std::string& table, graph::Value x, std::int64_t width,
                             std::int64_t rows, std::optional<graph::Value> bias) {
  const LinearLayer layer{.module = table, .in = width, .out = rows, .x = x, .y = {}, .rounding = Rounding::never};
  return weighted(b, require(table, {rows, width}), layer, bias);
}

graph::Value Weights::weighted(graph::Builder& b, const std::string& stored, const LinearLayer& layer,
                               std::optional<graph::Value> bias) {
  const bool is_stored = is_stored_in_8_bits(stored), may_round = layer.rounding == Rounding::allowed;
  const bool keeps_integers = settings_.dtype == ComputeType::as_stored || settings_.dtype == ComputeType::int8;
  const bool is_rounded = settings_.dtype == ComputeType::int8 || is_stored_unsigned(stored);
  graph::ConstantPtr smoothed = settings_.quantization.is_present ? smoothing(layer.module, layer.in) : nullptr;
  if (keeps_integers && (is_stored || (is_rounded && may_round && smoothed == nullptr)))
    return quantized_linear(b, stored, layer, std::move(smoothed), bias);
  if (smoothed == nullptr) {
    if (std::optional<StoredBlocks> blocks = blocks_of(stored, layer))
      return block_linear(b, *std::move(blocks), layer, bias);
  }
  graph::ConstantPtr weight = weight_of(stored, std::move(smoothed));
  if (keeps_as_stored(stored, DType::f16))
    weight = kept_as(DType::f16, std::move(weight), stored);
  else if (may_round)
    weight = kept_as(settings_.kept_in(), std::move(weight), stored);
  const graph::DenseOperands<> operands{.x = layer.x, .weight = b.constant(std::move(weight)), .bias = bias};
  return b.dense(operands.list(), operands.flagged({}));
}

bool Weights::keeps_as_stored(const std::string& stored, DType dtype) const {
  return settings_.keeps_halves && settings_.dtype == ComputeType::as_stored && stored_shape(stored).dtype == dtype &&
         !encoding_of(stored) && !change_of(stored).has_one_added;
}

const LowRank* Weights::adaptation(std::string_view module) const {
  if (adapter_ == nullptr) return nullptr;
  const auto found = adapter_->find(module);
  return found == adapter_->end() ? nullptr : &found->second;
}

graph::Value Weights::lookup(graph::Builder& b, const std::string& name, graph::Value indices, std::int64_t rows,
                             std::int64_t width, Rounding rounding) {
  const std::string stored = require(name, {rows, width});
  tables_.push_back({.weight = stored, .rows = rows, .width = width, .rounding = rounding});
  const graph::Value taken = table_rows(b, stored, indices);
  const LowRank* added =
      adaptation(std::string_view(name).substr(0, name.size() - std::min(name.size(), kWeight.size())));
  if (added == nullptr) return taken;
  return b.add({taken, product(b, graph::take_rows(b, b.constant(added->down), indices), added->up)});
}

graph::Value Weights::table_rows(graph::Builder& b, const std::string& stored, graph::Value indices) {
  // A table is read in place: for half types only the rows taken are widened, not the whole table.
  const DType dtype = stored_shape(stored).dtype;
  if ((settings_.kept_in() != DType::f32 || keeps_as_stored(stored, dtype)) &&
      (dtype == DType::bf16 || dtype == DType::f16))
    return b.convert({graph::take_rows(b, b.constant(leaf(stored)), indices)}, {.dtype = DType::f32});
  if (const auto blocks = stored_blocks(stored)) {
    const graph::QuantizedEmbeddingOperands<> operands{.indices = indices, .stored = b.constant(blocks->stored)};
    return b.quantized_embedding(operands.list(), operands.flagged({.encoding = blocks->kind}));
  }
  const bool is_unsigned = is_stored_unsigned(stored);
  if ((!is_unsigned && !is_stored_in_8_bits(stored)) || settings_.dtype == ComputeType::float32)
    return graph::take_rows(b, b.constant(in_float32(stored)), indices);
  StoredRows table = is_unsigned ? unsigned_rows(stored) : stored_rows(stored, 1);
  graph::QuantizedEmbeddingOperands<> operands{
      .indices = indices, .stored = b.constant(table.stored), .scales = b.constant(table.scales)};
  if (table.zero_points != nullptr) operands.zero_points = b.constant(table.zero_points);
  return b.quantized_embedding(operands.list(), operands.flagged({.blocks = std::move(table.blocks)}));
}

}  // namespace alate::models
