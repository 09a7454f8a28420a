// quantized_dense with 8-bit activations: rows are quantized, then multiplied with the weight's integers.
#include <cstring>
#include <string>
#include <vector>

#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/quantize/normalize_quantize.h"
#include "backends/cpu/kernels/vectors/scratch.h"
#include "backends/cpu/plan/integer_rows.h"
#include "backends/cpu/steps/norm_arguments.h"
#include "backends/cpu/steps/products/dense_arguments.h"
#include "backends/cpu/steps/products/product_values.h"
#include "backends/cpu/steps/products/quantization.h"
#include "backends/cpu/steps/steps.h"
#include "graph/operands.h"

namespace alate::cpu {
namespace {

// A step's packed operands, in the order of its row in the table of operations.
constexpr std::size_t kPackedIntegers = 0, kPackedScales = 1;

std::size_t groups_of(const graph::QuantizedDense& dense) { return static_cast<std::size_t>(dense.activation_groups); }

// Words in a row of the weight, which has the activations' groups.
std::size_t row_words(std::size_t k, const graph::QuantizedDense& dense) {
  return quantized_row_words(k, groups_of(dense), kernels().integers.kind);
}

// Size of the packed words, followed by the sums [groups, out] of their integers.
std::size_t packed_floats(std::size_t n, std::size_t k, const graph::QuantizedDense& dense) {
  return packed_word_count(n, row_words(k, dense), kernels().integers) + groups_of(dense) * n;
}

bool has_scales_of_rows_or_runs(const graph::QuantizedDense& dense, std::int64_t k) {
  return dense.blocks == graph::Numbers{1, 0} || dense.blocks == graph::Numbers{1, k / dense.activation_groups};
}

bool may_rotate(std::int64_t rotation) { return rotation % static_cast<std::int64_t>(kLeastRotation) == 0; }

graph::QuantizedDenseOperands<std::size_t> places_of(const Step& step) {
  return graph::places_of<graph::QuantizedDenseOperands>(std::get<graph::QuantizedDense>(step.attributes));
}

// The layout of the activations as the kernel reads them.
IntegerRows integer_rows(const Step& step, const Binding& binding) {
  const auto& dense = std::get<graph::QuantizedDense>(step.attributes);
  return {extent_of(binding.shapes[step.inputs[places_of(step).stored]], 1), groups_of(dense)};
}

// Whether the step before already quantized the activations.
bool reads_integers(const Step& step, const Binding& binding) {
  return binding.slots[step.inputs[0]].format.kind == kQuantizedRows;
}

// The quantized activations with scales and offsets; in scratch if this step quantizes them.
QuantizeArguments activations(const Step& step, const Frame& frame) {
  const IntegerRows rows = integer_rows(step, frame.binding);
  // The slot is not written to.
  auto* given = const_cast<std::byte*>(frame.in<std::byte>(step.inputs[0]));
  QuantizeArguments integers = integers_in(rows, reads_integers(step, frame.binding) ? given : frame.scratch);
  integers.rows = rows_of(frame.shape(step.inputs[0]));
  return integers;
}

// The same, with the floats to quantize.
QuantizeArguments rounding(const Step& step, const Frame& frame) {
  QuantizeArguments rounded = activations(step, frame);
  rounded.x = frame.in<float>(step.inputs[0]);
  rounded.x_stride = rounded.width;
  quantize_by(activation_quantization(step), frame, rounded);
  return rounded;
}

void multiply(const Step& step, const Frame& frame) {
  const QuantizeArguments integers = activations(step, frame);
  const GemmKernel& kernel = kernels().integers;
  GemmArguments product;
  product.m = integers.rows;
  product.n = extent_of(frame.shape(step.inputs[places_of(step).stored]), 0);
  product.k = quantized_row_words(integers.width, integers.groups, kernel.kind);
  product.a_stride = integers.words_stride;
  if (product.m == 0 || product.n == 0) return;
  const float* packed = step.packed[kPackedIntegers].values<float>().data();
  const Tensor& column_scales = step.packed[kPackedScales];
  product.a = integers.words;
  product.packed = packed;
  product.scales = {.row_scales = integers.scales,
                    .row_offsets = integers.offsets,
                    .column_scales = column_scales.values<float>().data(),
                    .column_sums = packed + packed_word_count(product.n, product.k, kernel),
                    .groups = integers.groups,
                    .has_group_column_scales = column_scales.extent(0) > 1,
                    .row_stride = integers.scales_stride};
  apply_epilogue(step, frame, product);
  gemm(product, frame.pool, frame.max_workers, kernel);
}

}  // namespace

RowQuantization activation_quantization(const Step& step) {
  const auto& dense = std::get<graph::QuantizedDense>(step.attributes);
  RowQuantization quantization{.groups = groups_of(dense), .rotation = static_cast<std::size_t>(dense.rotation)};
  if (const auto smoothing = places_of(step).smoothing) quantization.smoothing = step.inputs[*smoothing];
  return quantization;
}

void quantize_by(const RowQuantization& quantization, const Frame& frame, QuantizeArguments& integers) {
  if (quantization.smoothing) integers.smoothing = frame.in<float>(*quantization.smoothing);
  integers.rotation = quantization.rotation;
}

bool fits_integer_product(const graph::Graph& graph, const graph::Node& node) {
  const auto& dense = std::get<graph::QuantizedDense>(node.attributes);
  if (dense.activation_groups == 0 || dense.has_symmetric_groups || dense.has_zero_points ||
      dense.encoding != tensor::EncodingKind::linear || (dense.rotation > 1 && !may_rotate(dense.rotation)))
    return false;
  const auto operands = graph::QuantizedDenseOperands<>::of(node);
  const graph::Value weight = operands.stored, scales = *operands.scales;  // which a linear encoding has
  const Shape& shape = graph.shape(weight);
  // Up to this k, sums of 8-bit products fit 31 bits.
  constexpr std::int64_t kMostK = std::int64_t{1} << 16;
  if (!graph.shape(weight).is_static() || !has_scales_of_rows_or_runs(dense, shape.dims[1].number())) return false;
  return graph.node(weight.node).op == graph::Op::constant && shape.dtype == DType::i8 &&
         graph.node(scales.node).op == graph::Op::constant && graph.shape(scales).dtype == DType::f32 &&
         shape.dims[1].number() / dense.activation_groups <= kMostK;
}

graph::Numbers integers_layout(const graph::Attributes& attributes) {
  return {std::get<graph::QuantizedDense>(attributes).activation_groups,
          static_cast<std::int64_t>(kernels().integers.kind)};
}

std::size_t packed_integers_bytes(const Shape& weight, const graph::Attributes& attributes) {
  return sizeof(float) *
         packed_floats(extent_of(weight, 0), extent_of(weight, 1), std::get<graph::QuantizedDense>(attributes));
}

Tensor pack_integers(const Tensor& weight, const graph::Attributes& attributes) {
  const auto& dense = std::get<graph::QuantizedDense>(attributes);
  const auto n = static_cast<std::size_t>(weight.extent(0)), k = static_cast<std::size_t>(weight.extent(1));
  const std::size_t groups = groups_of(dense), length = k / groups, words = row_words(k, dense);
  const GemmKernel& kernel = kernels().integers;
  const std::size_t value_bytes = sizeof(float) / values_per_word(kernel.kind);
  Tensor packed = Tensor::uninitialized({DType::f32, {static_cast<std::int64_t>(packed_floats(n, k, dense))}});
  float* const to = packed.mutable_values<float>().data();
  float* const sums = to + packed_word_count(n, words, kernel);
  const std::int8_t* from = weight.values<std::int8_t>().data();

  // Each group begins at a word.
  std::vector<std::byte> rows(n * words * sizeof(float));
  for (std::size_t column = 0; column < n; ++column) {
    for (std::size_t group = 0; group < groups; ++group) {
      std::byte* out = rows.data() + (column * words + group * (words / groups)) * sizeof(float);
      std::int32_t sum = 0;
      for (std::size_t i = 0; i < length; ++i) {
        const std::int8_t value = *from++;
        sum += value;
        if (value_bytes == 1) {
          out[i] = static_cast<std::byte>(value);
        } else {
          const std::int16_t wide = value;
          std::memcpy(out + i * value_bytes, &wide, value_bytes);
        }
      }
      sums[group * n + column] = static_cast<float>(sum);
    }
  }
  const std::size_t row_bytes = words * sizeof(float);
  pack_words(rows.data(), row_bytes, n, row_bytes, reinterpret_cast<std::byte*>(to), &base::ThreadPool::shared(),
             kernel);
  return packed;
}

std::size_t packed_group_scales_bytes(const Shape& scales, const graph::Attributes& /*attributes*/) {
  return scales.byte_count();
}

Tensor pack_group_scales(const Tensor& scales, const graph::Attributes& /*attributes*/) {
  const std::int64_t rows = scales.extent(0), groups = scales.extent(1);
  Tensor packed = Tensor::uninitialized({DType::f32, {groups, rows}});
  const std::span<const float> from = scales.values<float>();
  const std::span<float> to = packed.mutable_values<float>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t row = i / static_cast<std::size_t>(groups), group = i % static_cast<std::size_t>(groups);
    to[group * static_cast<std::size_t>(rows) + row] = from[i];
  }
  return packed;
}

std::size_t integer_product_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  if (reads_integers(step, binding)) return 0;
  return scratch_aligned(rows_of(binding.shapes[step.inputs[0]]) * integer_rows(step, binding).bytes());
}

std::size_t norm_integer_product_scratch(const Step& step, const Binding& binding, std::size_t index) {
  return integer_product_scratch(step.parts[1], binding, index);
}

void run_integer_product(const Step& step, const Frame& frame) {
  if (!reads_integers(step, frame.binding)) quantize_rows(rounding(step, frame), frame.pool, frame.max_workers);
  multiply(step, frame);
}

void run_norm_integer_product(const Step& step, const Frame& frame) {
  const Step &norm = step.parts[0], &product = step.parts[1];
  WidenedValues values(norm, frame);  // f32: takes no scratch
  normalize_and_quantize_rows(*norm.operation->norm, norm_arguments(norm, frame, values), rounding(product, frame),
                              frame.pool, frame.max_workers);
  multiply(product, frame);
}

}  // namespace alate::cpu
