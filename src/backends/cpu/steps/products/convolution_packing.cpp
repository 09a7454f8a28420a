// Packing of constant convolution kernels, once, for their products.
#include <algorithm>

#include "backends/cpu/kernels/elementwise/tile.h"
#include "backends/cpu/kernels/gemm/product.h"
#include "backends/cpu/steps/products/convolution_problem.h"
#include "backends/cpu/steps/steps.h"
#include "graph/window_axis.h"

namespace alate::cpu {
namespace {

using graph::Convolution;
using graph::Numbers;

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

// Reorders the kernel [output, input, spatial...] or [spatial..., input, output] to f32 [output, spatial, input].
template <bool kOutputFirst>
std::vector<float> ordered_kernel(const Tensor& kernel, std::size_t& outputs) {
  const std::size_t rank = kernel.rank(), spatial = rank - 2;
  const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(kernel.extent(axis)); };
  outputs = extent(kOutputFirst ? 0 : rank - 1);
  const std::size_t inputs = extent(kOutputFirst ? 1 : rank - 2);
  std::size_t window = 1;
  for (std::size_t i = 0; i < spatial; ++i) window *= extent(kOutputFirst ? i + 2 : i);
  const std::size_t k = window * inputs, n = outputs * k;
  std::vector<float> values(n), ordered(n);
  const void* bytes = kernel.bytes().data();
  if (n > 0) tile_conversion(kernel.dtype(), DType::f32)(&bytes, values.data(), n);
  for (std::size_t output = 0; output < outputs; ++output) {
    for (std::size_t place = 0; place < window; ++place) {
      for (std::size_t input = 0; input < inputs; ++input) {
        const std::size_t from =
            kOutputFirst ? (output * inputs + input) * window + place : (place * inputs + input) * outputs + output;
        ordered[output * k + place * inputs + input] = values[from];
      }
    }
  }
  return ordered;
}

Tensor floats_of(std::size_t count) { return Tensor::uninitialized({DType::f32, {static_cast<std::int64_t>(count)}}); }

template <bool kOutputFirst>
Tensor pack_kernel(const Tensor& kernel) {
  std::size_t outputs = 0;
  const std::vector<float> ordered = ordered_kernel<kOutputFirst>(kernel, outputs);
  const std::size_t k = outputs == 0 ? 0 : ordered.size() / outputs;
  Tensor packed = floats_of(packed_product_bytes(DType::f32, outputs, k) / sizeof(float));
  pack_product(DType::f32, ordered.data(), k, outputs, k, packed.mutable_values<float>().data(),
               &base::ThreadPool::shared());
  return packed;
}

std::size_t element_count(const Shape& shape) { return static_cast<std::size_t>(shape.element_count()); }

std::size_t packed_kernel_bytes(const Shape& kernel, std::size_t output_axis) {
  const auto outputs = static_cast<std::size_t>(kernel.dims[output_axis].number());
  return packed_product_bytes(DType::f32, outputs, outputs == 0 ? 0 : element_count(kernel) / outputs);
}

bool is_ascending(const Numbers& axes, std::int64_t first) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != first + static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

// Whether run_convolution will swap x and the kernel (ConvolutionForm::turned), which takes the kernel unpacked.
bool will_turn(const graph::Graph& graph, const graph::Node& node) {
  constexpr std::int64_t kFewestPlaces = 128;  // with fewer, packed kernels are faster
  const auto& conv = std::get<Convolution>(node.attributes);
  const Shape &x = graph.shape(node.operands[0]), &kernel = graph.shape(node.operands[1]), &result = node.results[0];
  if (!has_channels_first(conv, x)) return false;
  std::int64_t places = 1;
  for (std::size_t i = 0; i < conv.input_spatial.size(); ++i) {
    const Dim extent = x.dims[at(conv.input_spatial[i])];
    const graph::WindowAxis axis = graph::window_axis(conv, i, 1);
    if (!extent.is_number() || kernel.dims[at(conv.kernel_spatial[i])] != Dim(1) || axis.stride != 1 || axis.low != 0 ||
        axis.base_dilation != 1 || result.dims[at(conv.output_spatial[i])] != extent)
      return false;
    places *= extent.number();
  }
  return places >= kFewestPlaces;
}

enum class KernelLayout { output_first, output_last };

// Whether the kernel is a constant in that layout, and the result's axes are in an order that the products keep.
bool has_constant_kernel(const graph::Graph& graph, const graph::Node& node, KernelLayout layout) {
  const auto& conv = std::get<Convolution>(node.attributes);
  const auto rank = static_cast<std::int64_t>(node.results[0].rank());
  const bool is_first = layout == KernelLayout::output_first;
  return graph.node(node.operands[1].node).op == graph::Op::constant && conv.batch_groups == 1 &&
         conv.kernel_output == (is_first ? 0 : rank - 1) && conv.kernel_input == (is_first ? 1 : rank - 2) &&
         is_ascending(conv.kernel_spatial, is_first ? 2 : 0) &&
         std::is_sorted(conv.output_spatial.begin(), conv.output_spatial.end()) && fits_convolution(graph, node);
}

bool fits_packed(const graph::Graph& graph, const graph::Node& node, KernelLayout layout) {
  return std::get<Convolution>(node.attributes).feature_groups == 1 && has_constant_kernel(graph, node, layout) &&
         !will_turn(graph, node);
}

}  // namespace

bool fits_convolution(const graph::Graph& /*graph*/, const graph::Node& node) {
  return std::get<Convolution>(node.attributes).input_spatial.size() <= kMostPatchAxes;
}

bool fits_packed_output_first(const graph::Graph& graph, const graph::Node& node) {
  return fits_packed(graph, node, KernelLayout::output_first);
}

bool fits_packed_output_last(const graph::Graph& graph, const graph::Node& node) {
  return fits_packed(graph, node, KernelLayout::output_last);
}

bool fits_packed_depthwise(const graph::Graph& graph, const graph::Node& node) {
  return is_depthwise(std::get<Convolution>(node.attributes), graph.shape(node.operands[0]),
                      graph.shape(node.operands[1])) &&
         has_constant_kernel(graph, node, KernelLayout::output_first);
}

Tensor pack_output_first(const Tensor& kernel, const graph::Attributes& /*attributes*/) {
  return pack_kernel<true>(kernel);
}
Tensor pack_output_last(const Tensor& kernel, const graph::Attributes& /*attributes*/) {
  return pack_kernel<false>(kernel);
}

std::size_t packed_output_first_bytes(const Shape& kernel, const graph::Attributes& /*attributes*/) {
  return packed_kernel_bytes(kernel, 0);
}
std::size_t packed_output_last_bytes(const Shape& kernel, const graph::Attributes& /*attributes*/) {
  return packed_kernel_bytes(kernel, kernel.rank() - 1);
}
std::size_t packed_depthwise_bytes(const Shape& kernel, const graph::Attributes& /*attributes*/) {
  return element_count(kernel) * sizeof(float);
}

// Reorders [output, 1, spatial...] to [spatial, output].
Tensor pack_depthwise(const Tensor& kernel, const graph::Attributes& /*attributes*/) {
  std::size_t outputs = 0;
  const std::vector<float> ordered = ordered_kernel<true>(kernel, outputs);
  const std::size_t window = outputs == 0 ? 0 : ordered.size() / outputs;
  Tensor packed = floats_of(ordered.size());
  const std::span<float> weights = packed.mutable_values<float>();
  for (std::size_t place = 0; place < window; ++place) {
    for (std::size_t output = 0; output < outputs; ++output)
      weights[place * outputs + output] = ordered[output * window + place];
  }
  return packed;
}

}  // namespace alate::cpu
