#include "backends/cpu/steps/products/convolution_problem.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/kernels/gemm/product.h"
#include "backends/cpu/kernels/vectors/scratch.h"
#include "backends/cpu/steps/steps.h"
#include "graph/window_axis.h"

namespace alate::cpu {

using graph::Convolution;
using graph::Numbers;

namespace {

// Rows of patches are copied and multiplied in blocks of this many bytes, which stay in the cache.
constexpr std::size_t kPatchBytes = std::size_t{512} << 10;
constexpr std::size_t kFewestRows = 112;

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

AxisOrder order_of(std::int64_t first, const Numbers& spatial, std::int64_t last) {
  AxisOrder order{at(first)};
  for (const std::int64_t axis : spatial) order.push_back(at(axis));
  order.push_back(at(last));
  return order;
}

// Reorders the spatial axes: any order is right as long as x, kernel and result share it; the result's needs the fewest
// copies.
Convolution with_ordered_axes(const Convolution& conv) {
  std::vector<std::size_t> order(conv.output_spatial.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return conv.output_spatial[a] < conv.output_spatial[b]; });
  Convolution ordered = conv;
  const auto permute = [&](Numbers& list) {
    const Numbers from = list;
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = from[order[i]];
  };
  for (Numbers Convolution::*list :
       {&Convolution::strides, &Convolution::padding_low, &Convolution::padding_high, &Convolution::lhs_dilation,
        &Convolution::rhs_dilation, &Convolution::input_spatial, &Convolution::kernel_spatial,
        &Convolution::output_spatial})
    permute(ordered.*list);
  return ordered;
}

PatchGeometry geometry_of(const Convolution& conv, const Shape& x, const Shape& kernel, const Shape& result) {
  PatchGeometry geometry;
  geometry.rank = conv.input_spatial.size();
  for (std::size_t i = 0; i < geometry.rank; ++i) {
    const std::size_t window = extent_of(kernel, at(conv.kernel_spatial[i]));
    const graph::WindowAxis axis = graph::window_axis(conv, i, static_cast<std::int64_t>(window));
    geometry.axes[i] = {extent_of(x, at(conv.input_spatial[i])),
                        extent_of(result, at(conv.output_spatial[i])),
                        window,
                        axis.stride,
                        axis.low,
                        axis.base_dilation,
                        axis.window_dilation};
  }
  const std::size_t bytes = product_bytes(x.dtype);
  geometry.place_bytes = extent_of(x, at(conv.input_feature)) * bytes;
  geometry.run_bytes = extent_of(kernel, at(conv.kernel_input)) * bytes;
  return geometry;
}

// Whether windows can be multiplied in place: long lines of whole positions without holes.
bool has_lines(const Convolution& conv, const PatchGeometry& geometry, const Shape& x, std::size_t k) {
  constexpr std::size_t kFewestPlaces = 12;  // about a tile: with fewer, rows of copied patches fill tiles better
  if (product_dtype(x.dtype) != DType::f32 || is_complex(x.dtype) || geometry.rank == 0 || geometry.is_pointwise() ||
      conv.feature_groups != 1 || conv.batch_groups != 1 || k == 0)
    return false;
  for (std::size_t axis = 0; axis < geometry.rank; ++axis) {
    if (geometry.axes[axis].base_dilation != 1) return false;
  }
  const std::size_t places = geometry.axes[geometry.rank - 1].count;
  return places >= kFewestPlaces && takes_lines(places, k);
}

// Positions packed at a time: few enough for their panels to stay in the cache, but several panels, so that the other
// operand is rarely read from memory.
std::size_t turned_block_of(DType computed, std::size_t k) {
  constexpr std::size_t kPackedBytes = std::size_t{64} << 10, kFewestPanels = 4;
  const std::size_t panel_bytes = packed_product_bytes(computed, 1, k), width = product_panel_width(computed);
  return std::max(kFewestPanels, kPackedBytes / std::max<std::size_t>(1, panel_bytes)) * width;
}

// An already packed kernel is laid out for `pointwise`, `lines` and `patches`, or for `depthwise`.
ConvolutionForm form_of(const Convolution& conv, const PatchGeometry& geometry, const Shape& x, const Shape& kernel,
                        std::size_t k, bool is_packed) {
  if (is_depthwise(conv, x, kernel)) return ConvolutionForm::depthwise;
  if (geometry.is_pointwise())
    return !is_packed && has_channels_first(conv, x) ? ConvolutionForm::turned : ConvolutionForm::pointwise;
  return has_lines(conv, geometry, x, k) ? ConvolutionForm::lines : ConvolutionForm::patches;
}

AxisOrder order_unless_turned(ConvolutionForm form, AxisOrder order) {
  return form == ConvolutionForm::turned ? AxisOrder{} : std::move(order);
}

}  // namespace

bool is_depthwise(const Convolution& conv, const Shape& x, const Shape& kernel) {
  std::int64_t taps = 1;
  for (const std::int64_t axis : conv.kernel_spatial) {
    const Dim extent = kernel.dims[at(axis)];
    if (!extent.is_number() || extent.number() > static_cast<std::int64_t>(kMostDepthwiseTaps)) return false;
    taps *= std::max<std::int64_t>(extent.number(), 1);
    if (taps > static_cast<std::int64_t>(kMostDepthwiseTaps)) return false;
  }
  return product_dtype(x.dtype) == DType::f32 && !is_complex(x.dtype) && !conv.input_spatial.empty() &&
         conv.feature_groups > 1 && kernel.dims[at(conv.kernel_input)] == Dim(1) &&
         kernel.dims[at(conv.kernel_output)] == Dim(conv.feature_groups);
}

bool has_channels_first(const Convolution& conv, const Shape& shape) {
  const auto comes_first = [](std::int64_t batch, std::int64_t feature, const Numbers& spatial) {
    return batch == 0 && feature == 1 && std::is_sorted(spatial.begin(), spatial.end());
  };
  return !is_complex(shape.dtype) && comes_first(conv.input_batch, conv.input_feature, conv.input_spatial) &&
         comes_first(conv.output_batch, conv.output_feature, conv.output_spatial);
}

ConvolutionProblem::ConvolutionProblem(const Step& step, const Shape& x_shape, const Shape& kernel_shape,
                                       const Shape& out, std::byte* memory)
    : conv(with_ordered_axes(std::get<Convolution>(step.attributes))),
      dtype(x_shape.dtype),
      geometry(geometry_of(conv, x_shape, kernel_shape, out)),
      groups(static_cast<std::size_t>(conv.feature_groups * conv.batch_groups)),
      batch(extent_of(out, at(conv.output_batch))),
      features(extent_of(out, at(conv.output_feature))),
      m(batch * geometry.places_per_batch()),
      n(features / groups * product_parts(dtype)),
      k(geometry.window_size() * extent_of(kernel_shape, at(conv.kernel_input)) * product_parts(dtype)),
      form(form_of(conv, geometry, x_shape, kernel_shape, k, !step.operation->packed.empty())),
      scratch(memory),
      x(x_shape, order_unless_turned(form, order_of(conv.input_batch, conv.input_spatial, conv.input_feature)),
        scratch),
      result(out, order_unless_turned(form, order_of(conv.output_batch, conv.output_spatial, conv.output_feature)),
             scratch) {
  const std::size_t parts = product_parts(dtype), bytes = product_bytes(dtype) / parts;
  const bool is_packed = !step.operation->packed.empty();
  if (form == ConvolutionForm::depthwise) {
    if (!is_packed)
      kernel.emplace(kernel_shape, order_of(conv.kernel_input, conv.kernel_spatial, conv.kernel_output), scratch);
    return;
  }
  if (!is_packed)
    kernel.emplace(kernel_shape, order_of(conv.kernel_output, conv.kernel_spatial, conv.kernel_input), scratch);
  if (form == ConvolutionForm::turned) {
    turned_block = turned_block_of(product_dtype(dtype), k);
    packed_block_bytes = scratch_aligned(packed_product_bytes(product_dtype(dtype), turned_block, k));
    packed = scratch.take(std::max(packed_product_bytes(product_dtype(dtype), geometry.places_per_batch(), k),
                                   packed_block_bytes * base::ThreadPool::shared().size()));
    return;
  }
  if (!is_packed) {
    if (parts > 1) expanded = scratch.take(n * k * bytes);
    packed = scratch.take(packed_product_bytes(product_dtype(dtype), n, k));
  }
  if (form == ConvolutionForm::lines) take_lines();
  if (form == ConvolutionForm::patches) {
    rows_at_once = std::min(m, std::max(kFewestRows, kPatchBytes / std::max<std::size_t>(1, k * bytes)));
    patches = scratch.take(rows_at_once * k * bytes);
  }
}

void ConvolutionProblem::take_lines() {
  if (needs_padding(geometry)) {
    std::size_t places = batch;
    const PatchGeometry whole = with_padding(geometry);
    for (std::size_t axis = 0; axis < whole.rank; ++axis) places *= whole.axes[axis].extent;
    padded = scratch.take(places * geometry.place_bytes);
  }
  const auto take_offsets = [&](std::size_t count) {
    return reinterpret_cast<std::ptrdiff_t*>(scratch.take(count * sizeof(std::ptrdiff_t)));
  };
  line_offsets = take_offsets(line_count(geometry, batch));
  segment_offsets = take_offsets(segment_count(geometry));
}

}  // namespace alate::cpu
