// Quantized encodings: dequantize, and products and lookups with quantized weights, never dequantized as a whole.
#include <algorithm>
#include <cstring>
#include <optional>

#include "backends/cpu/kernels/gemm/product.h"
#include "backends/cpu/kernels/quantize/dequantize.h"
#include "backends/cpu/kernels/vectors/row_split.h"
#include "backends/cpu/steps/products/product_values.h"
#include "backends/cpu/steps/steps.h"
#include "graph/operands.h"

namespace alate::cpu {
namespace {

// Numbers of a weight that are dequantized at a time.
constexpr std::size_t kWeightsAtOnce = std::size_t{1} << 20;
// Columns are processed in whole panels of any instruction set.
constexpr std::size_t kPanels = 64;
constexpr std::size_t kCost = 4;  // per number

// The operands at these places: stored values, scales and zero points.
template <typename Attribute, typename Places>
QuantizedRows weight_rows(const Step& step, const Frame& frame, const Attribute& attribute, const Places& at) {
  QuantizedRows rows = quantized_rows(attribute.encoding, attribute.blocks, frame.shape(step.inputs[at.stored]));
  rows.stored = frame.in<std::byte>(step.inputs[at.stored]);
  if (at.scales) {
    rows.scales = frame.in<std::byte>(step.inputs[*at.scales]);
    rows.scale_dtype = frame.shape(step.inputs[*at.scales]).dtype;
  }
  if (at.zero_points) rows.zero_points = frame.in<std::byte>(step.inputs[*at.zero_points]);
  return rows;
}

// Dequantizes rows [first, first + count) to `dtype`.
void dequantize_rows(const QuantizedRows& rows, std::size_t first, std::size_t count, DType dtype, std::byte* out,
                     const Frame& frame) {
  constexpr std::size_t kPart = 16 * kQuantizedRun;
  const std::size_t width = rows.row.extent, parts = (width + kPart - 1) / kPart, bytes = bits_of(dtype) / 8;
  split_rows(count * parts, std::min(width, kPart) * kCost, frame.pool, frame.max_workers,
             [&](std::size_t begin, std::size_t end) {
               for (std::size_t i = begin; i < end; ++i) {
                 const std::size_t row = i / parts, from = i % parts * kPart;
                 dequantize_part(rows, first + row, from, std::min(width, from + kPart), dtype,
                                 out + (row * width + from) * bytes);
               }
             });
}

struct DenseProblem {
  DType computed;
  std::size_t m, n, k, columns;  // columns: of the weight's rows at a time
  ScratchParts scratch;
  ProductOperand x;
  ProductResult result;
  std::optional<ProductOperand> bias;
  std::byte *weights, *packed;

  DenseProblem(const Shape& in, const Shape& out, const Shape* bias_shape, std::byte* memory)
      : computed(product_dtype(in.dtype)),
        m(cpu::rows_of(out)),
        n(extent_of(out, out.rank() - 1)),
        k(extent_of(in, in.rank() - 1)),
        columns(std::min(n, std::max(kPanels, kWeightsAtOnce / std::max<std::size_t>(k, 1) / kPanels * kPanels))),
        scratch(memory),
        x(in, {}, scratch),
        result(out, {}, scratch) {
    if (bias_shape != nullptr) bias.emplace(*bias_shape, AxisOrder{}, scratch);
    weights = scratch.take(columns * k * (bits_of(computed) / 8));
    packed = scratch.take(packed_product_bytes(computed, columns, k));
  }
};

template <typename T>
void add_bias(const T* bias, std::size_t m, std::size_t n, T* out, const Frame& frame) {
  split_rows(m, n, frame.pool, frame.max_workers, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      for (std::size_t i = 0; i < n; ++i) out[row * n + i] += bias[i];
    }
  });
}

std::int64_t stored_index(const Shape& shape, const std::byte* indices, std::size_t i) {
  const std::size_t bits = bits_of(shape.dtype);
  std::uint64_t word = 0;
  std::memcpy(&word, indices + i * bits / 8, std::max<std::size_t>(bits / 8, 1));
  if (bits < 8) word >>= i * bits % 8;
  const auto unused = static_cast<int>(64 - bits);
  if (is_signed_integer(shape.dtype)) return static_cast<std::int64_t>(word << unused) >> unused;
  return static_cast<std::int64_t>(std::min<std::uint64_t>(word << unused >> unused, INT64_MAX));
}

}  // namespace

bool has_few_scaled_axes(const graph::Graph& graph, const graph::Node& node) {
  return graph.shape(node.operands[0]).rank() <= kMostScaledAxes;
}

bool takes_plain_activations(const graph::Graph& /*graph*/, const graph::Node& node) {
  const auto& dense = std::get<graph::QuantizedDense>(node.attributes);
  return !dense.has_smoothing && dense.activation_groups == 0 && dense.rotation <= 1 && !dense.has_residual &&
         dense.activation == graph::Activation::none;
}

void run_dequantize(const Step& step, const Frame& frame) {
  const Shape& result = frame.shape(step.output());
  if (count_of(result) == 0) return;
  const auto& dequantize = std::get<graph::Dequantize>(step.attributes);
  const QuantizedRows rows =
      weight_rows(step, frame, dequantize, graph::places_of<graph::DequantizeOperands>(dequantize));
  dequantize_rows(rows, 0, rows.rows, result.dtype, frame.out<std::byte>(step.output()), frame);
}

std::size_t quantized_dense_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  const auto at = graph::places_of<graph::QuantizedDenseOperands>(std::get<graph::QuantizedDense>(step.attributes));
  const std::optional<std::size_t> bias = step.epilogue.bias;
  return DenseProblem(binding.shapes[step.inputs[at.x]], binding.shapes[step.output()],
                      bias ? &binding.shapes[step.inputs[*bias]] : nullptr, nullptr)
      .scratch.bytes();
}

void run_quantized_dense(const Step& step, const Frame& frame) {
  const auto& dense = std::get<graph::QuantizedDense>(step.attributes);
  const auto at = graph::places_of<graph::QuantizedDenseOperands>(dense);
  const std::optional<std::size_t> bias = step.epilogue.bias;
  const DenseProblem problem(frame.shape(step.inputs[at.x]), frame.shape(step.output()),
                             bias ? &frame.shape(step.inputs[*bias]) : nullptr, frame.scratch);
  if (problem.m == 0 || problem.n == 0) return;
  const QuantizedRows rows = weight_rows(step, frame, dense, at);
  std::byte *const out = frame.out<std::byte>(step.output()), *const target = problem.result.target(out);
  const std::size_t bytes = bits_of(problem.computed) / 8;
  ProductArguments arguments;
  arguments.a = problem.x.load(frame, frame.in<std::byte>(step.inputs[at.x]));
  arguments.a_stride = arguments.k = problem.k;
  arguments.packed = problem.packed;
  arguments.c_stride = problem.n;
  arguments.m = problem.m;
  for (std::size_t first = 0; first < problem.n; first += problem.columns) {
    arguments.n = std::min(problem.columns, problem.n - first);
    arguments.c = target + first * bytes;
    dequantize_rows(rows, first, arguments.n, problem.computed, problem.weights, frame);
    pack_product(problem.computed, problem.weights, problem.k, arguments.n, problem.k, problem.packed, &frame.pool);
    multiply(problem.computed, arguments, frame.pool, frame.max_workers);
  }
  if (problem.bias) {
    const std::byte* values = problem.bias->load(frame, frame.in<std::byte>(step.inputs[*bias]));
    if (problem.computed == DType::f32)
      add_bias(reinterpret_cast<const float*>(values), problem.m, problem.n, reinterpret_cast<float*>(target), frame);
    else
      add_bias(reinterpret_cast<const double*>(values), problem.m, problem.n, reinterpret_cast<double*>(target), frame);
  }
  problem.result.store(frame, out);
}

void run_quantized_embedding(const Step& step, const Frame& frame) {
  const auto& encoding = std::get<graph::Dequantize>(step.attributes);
  const auto at = graph::places_of<graph::QuantizedEmbeddingOperands>(encoding);
  const Shape &indices = frame.shape(step.inputs[at.indices]), &result = frame.shape(step.output());
  if (count_of(result) == 0) return;
  const QuantizedRows rows = weight_rows(step, frame, encoding, at);
  const auto* places = frame.in<std::byte>(step.inputs[at.indices]);
  auto* out = frame.out<std::byte>(step.output());
  const std::size_t width = rows.row.extent, bytes = bits_of(result.dtype) / 8;
  const auto row_at = [&](std::size_t i) {
    const std::int64_t last = static_cast<std::int64_t>(rows.rows) - 1;
    return static_cast<std::size_t>(std::clamp<std::int64_t>(stored_index(indices, places, i), 0, last));
  };
  // Rows are scattered over a table larger than any cache: prefetch them.
  constexpr std::size_t kAhead = 8;
  split_rows(count_of(indices), width * kCost, frame.pool, frame.max_workers, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(begin + kAhead, end); ++i) fetch_row(rows, row_at(i));
    for (std::size_t i = begin; i < end; ++i) {
      if (i + kAhead < end) fetch_row(rows, row_at(i + kAhead));
      dequantize_part(rows, row_at(i), 0, width, result.dtype, out + i * width * bytes);
    }
  });
}

}  // namespace alate::cpu
