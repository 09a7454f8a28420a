// Convolutions as matrix products: with channels last, what a window sees is a row, and the kernel is a matrix.
#include <algorithm>
#include <optional>

#include "backends/cpu/kernels/patches.h"
#include "backends/cpu/kernels/product.h"
#include "backends/cpu/kernels/tile.h"
#include "backends/cpu/steps/product_values.h"
#include "backends/cpu/steps/steps.h"
#include "graph/window_axis.h"

namespace alate::cpu {
namespace {

using graph::Convolution;
using graph::Numbers;

// Rows of patches are made and multiplied so many bytes at a time, which stay in the cache.
constexpr std::size_t kPatchBytes = std::size_t{512} << 10;
constexpr std::size_t kFewestRows = 112;

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

AxisOrder order_of(std::int64_t first, const Numbers& spatial, std::int64_t last) {
  AxisOrder order{at(first)};
  for (const std::int64_t axis : spatial) order.push_back(at(axis));
  order.push_back(at(last));
  return order;
}

// The spatial axes, of which any order is right as long as it is the same for x, kernel and result. The result's makes
// the fewest copies.
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

// A kernel for every channel of its own, small enough for the loop that sums in place.
bool is_depthwise(const Convolution& conv, const PatchGeometry& geometry, const Shape& x, const Shape& kernel) {
  return product_dtype(x.dtype) == DType::f32 && !is_complex(x.dtype) && geometry.rank > 0 && conv.feature_groups > 1 &&
         extent_of(kernel, at(conv.kernel_input)) == 1 &&
         extent_of(kernel, at(conv.kernel_output)) == static_cast<std::size_t>(conv.feature_groups) &&
         geometry.window_size() <= kMostDepthwiseTaps;
}

// Layouts in which the channels of a batch entry come before its places.
bool has_channels_first(const Convolution& conv, const Shape& shape) {
  const auto comes_first = [](std::int64_t batch, std::int64_t feature, const Numbers& spatial) {
    return batch == 0 && feature == 1 && std::is_sorted(spatial.begin(), spatial.end());
  };
  return !is_complex(shape.dtype) && comes_first(conv.input_batch, conv.input_feature, conv.input_spatial) &&
         comes_first(conv.output_batch, conv.output_feature, conv.output_spatial);
}

// Whether what the windows see is multiplied where it lies: long lines of whole places without holes.
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

struct Problem {
  Convolution conv;
  DType dtype;
  PatchGeometry geometry;
  bool depthwise;
  bool lines = false;  // of places, multiplied where they lie
  bool turned;         // the result [features, places] is the kernel times x [channels, places] as it lies
  std::size_t groups, batch, features;  // batch: of the result
  std::size_t m, n, k;                  // of a group's product, in parts of numbers
  std::size_t rows_at_once = 0;
  ScratchParts scratch;
  ProductOperand x;
  ProductResult result;
  std::optional<ProductOperand> kernel;  // unless it is packed already
  std::byte *expanded = nullptr, *packed = nullptr, *patches = nullptr, *padded = nullptr;
  std::ptrdiff_t *line_offsets = nullptr, *segment_offsets = nullptr;

  Problem(const Step& step, const Shape& x_shape, const Shape& kernel_shape, const Shape& out, std::byte* memory)
      : conv(with_ordered_axes(std::get<Convolution>(step.attributes))),
        dtype(x_shape.dtype),
        geometry(geometry_of(conv, x_shape, kernel_shape, out)),
        depthwise(step.operation->pack == nullptr && is_depthwise(conv, geometry, x_shape, kernel_shape)),
        turned(step.operation->pack == nullptr && geometry.is_pointwise() && !depthwise &&
               has_channels_first(conv, x_shape)),
        groups(static_cast<std::size_t>(conv.feature_groups * conv.batch_groups)),
        batch(extent_of(out, at(conv.output_batch))),
        features(extent_of(out, at(conv.output_feature))),
        scratch(memory),
        x(x_shape, turned ? AxisOrder{} : order_of(conv.input_batch, conv.input_spatial, conv.input_feature), scratch),
        result(out, turned ? AxisOrder{} : order_of(conv.output_batch, conv.output_spatial, conv.output_feature),
               scratch) {
    const std::size_t parts = product_parts(dtype), bytes = product_bytes(dtype) / parts;
    m = batch * geometry.places_per_batch();
    n = features / groups * parts;
    k = geometry.window_size() * extent_of(kernel_shape, at(conv.kernel_input)) * parts;
    if (depthwise) {
      kernel.emplace(kernel_shape, order_of(conv.kernel_input, conv.kernel_spatial, conv.kernel_output), scratch);
      return;
    }
    if (turned) {
      kernel.emplace(kernel_shape, order_of(conv.kernel_output, conv.kernel_spatial, conv.kernel_input), scratch);
      packed = scratch.take(packed_product_bytes(product_dtype(dtype), geometry.places_per_batch(), k));
      return;
    }
    if (step.operation->pack == nullptr) {
      kernel.emplace(kernel_shape, order_of(conv.kernel_output, conv.kernel_spatial, conv.kernel_input), scratch);
      if (parts > 1) expanded = scratch.take(n * k * bytes);
      packed = scratch.take(packed_product_bytes(product_dtype(dtype), n, k));
    }
    if (geometry.is_pointwise()) return;
    lines = m > 0 && has_lines(conv, geometry, x_shape, k);
    if (lines) {
      take_lines();
      return;
    }
    rows_at_once = std::min(m, std::max(kFewestRows, kPatchBytes / std::max<std::size_t>(1, k * bytes)));
    patches = scratch.take(rows_at_once * k * bytes);
  }

  void take_lines() {
    if (needs_padding(geometry)) {
      std::size_t places = batch;
      const PatchGeometry whole = with_padding(geometry);
      for (std::size_t axis = 0; axis < whole.rank; ++axis) places *= whole.axes[axis].extent;
      padded = scratch.take(places * geometry.place_bytes);
    }
    line_offsets =
        reinterpret_cast<std::ptrdiff_t*>(scratch.take(line_count(geometry, batch) * sizeof(std::ptrdiff_t)));
    segment_offsets = reinterpret_cast<std::ptrdiff_t*>(scratch.take(segment_count(geometry) * sizeof(std::ptrdiff_t)));
  }
};

void convolve_lines(const Problem& problem, const PatchGeometry& geometry, const Frame& frame,
                    ProductArguments arguments) {
  if (needs_padding(geometry)) pad_places(geometry, problem.batch, problem.padded, frame.pool, frame.max_workers);
  const PatchGeometry whole = with_padding(geometry);
  write_line_offsets(whole, problem.batch, problem.line_offsets, problem.segment_offsets);
  const PatchAxis& last = whole.axes[whole.rank - 1];
  const GemmLines lines{.rows = last.count,
                        .line_offsets = problem.line_offsets,
                        .segment_offsets = problem.segment_offsets,
                        .segments = segment_count(whole)};
  arguments.lines = &lines;
  arguments.a = needs_padding(geometry) ? problem.padded : geometry.x;
  arguments.a_stride = static_cast<std::size_t>(last.stride) * whole.place_bytes / sizeof(float);
  arguments.m = problem.m;
  multiply(DType::f32, arguments, frame.pool, frame.max_workers);
}

// Multiplies what the windows of one group see with its kernel.
void convolve_group(const Problem& problem, const PatchGeometry& geometry, const Frame& frame, const void* packed,
                    std::byte* out) {
  const std::size_t parts = product_parts(problem.dtype), bytes = product_bytes(problem.dtype) / parts;
  const DType computed = product_dtype(problem.dtype);
  ProductArguments arguments;
  arguments.packed = packed;
  arguments.n = problem.n;
  arguments.k = problem.k;
  arguments.c_stride = problem.features * parts;
  if (geometry.is_pointwise()) {
    arguments.a = geometry.x;
    arguments.a_stride = geometry.place_bytes / bytes;
    arguments.c = out;
    arguments.m = problem.m;
    return multiply(computed, arguments, frame.pool, frame.max_workers);
  }
  if (problem.lines) {
    arguments.c = out;
    return convolve_lines(problem, geometry, frame, arguments);
  }
  arguments.a = problem.patches;
  arguments.a_stride = problem.k;
  for (std::size_t first = 0; first < problem.m; first += problem.rows_at_once) {
    arguments.m = std::min(problem.rows_at_once, problem.m - first);
    arguments.c = out + first * arguments.c_stride * bytes;
    write_patches(geometry, first, arguments.m, problem.patches, frame.pool, frame.max_workers);
    multiply(computed, arguments, frame.pool, frame.max_workers);
  }
}

// Every batch entry and group on its own, with x as the matrix that is packed.
void convolve_turned(const Problem& problem, const Frame& frame, const std::byte* x, const std::byte* kernel,
                     std::byte* out) {
  const DType computed = product_dtype(problem.dtype);
  const std::size_t bytes = product_bytes(problem.dtype), places = problem.geometry.places_per_batch();
  const std::size_t feature_groups = static_cast<std::size_t>(problem.conv.feature_groups);
  ProductArguments arguments;
  arguments.packed = problem.packed;
  arguments.a_stride = arguments.k = problem.k;
  arguments.c_stride = arguments.n = places;
  arguments.m = problem.n;
  for (std::size_t group = 0; group < problem.groups; ++group) {
    for (std::size_t i = 0; i < problem.batch; ++i) {
      // Groups of features lie within an entry of the batch, groups of the batch one after the other.
      const std::size_t entry = feature_groups > 1 ? i * feature_groups + group : group * problem.batch + i;
      pack_turned_product(computed, x + entry * problem.k * places * bytes, places, places, problem.k, problem.packed,
                          frame.pool, frame.max_workers);
      arguments.a = kernel + group * problem.n * problem.k * bytes;
      arguments.c = out + (i * problem.features + group * problem.n) * places * bytes;
      multiply(computed, arguments, frame.pool, frame.max_workers);
    }
  }
}

// The kernel [output, input, spatial...] or [spatial..., input, output] as the packed matrix [output, spatial, input].
template <bool kOutputFirst>
Tensor pack_kernel(const Tensor& kernel) {
  const std::size_t rank = kernel.rank(), spatial = rank - 2;
  const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(kernel.extent(axis)); };
  const std::size_t outputs = extent(kOutputFirst ? 0 : rank - 1), inputs = extent(kOutputFirst ? 1 : rank - 2);
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
  const std::size_t size = packed_product_bytes(DType::f32, outputs, k) / sizeof(float);
  Tensor packed = Tensor::uninitialized({DType::f32, {static_cast<std::int64_t>(size)}});
  pack_product(DType::f32, ordered.data(), k, outputs, k, packed.mutable_values<float>().data(),
               &base::ThreadPool::shared());
  return packed;
}

bool is_ascending(const Numbers& axes, std::int64_t first) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != first + static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

// Whether run_convolution will take x and the kernel the other way round, which wants the kernel as it is.
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

bool can_pack(const graph::Graph& graph, const graph::Node& node, std::int64_t output, std::int64_t input,
              std::int64_t spatial) {
  const auto& conv = std::get<Convolution>(node.attributes);
  return graph.node(node.operands[1].node).op == graph::Op::constant && conv.feature_groups == 1 &&
         conv.batch_groups == 1 && conv.kernel_output == output && conv.kernel_input == input &&
         is_ascending(conv.kernel_spatial, spatial) &&
         std::is_sorted(conv.output_spatial.begin(), conv.output_spatial.end()) && fits_convolution(graph, node) &&
         !will_turn(graph, node);
}

}  // namespace

bool fits_convolution(const graph::Graph& /*graph*/, const graph::Node& node) {
  return std::get<Convolution>(node.attributes).input_spatial.size() <= kMostPatchAxes;
}

bool fits_packed_output_first(const graph::Graph& graph, const graph::Node& node) {
  return can_pack(graph, node, 0, 1, 2);
}

bool fits_packed_output_last(const graph::Graph& graph, const graph::Node& node) {
  const auto rank = static_cast<std::int64_t>(node.results[0].rank());
  return can_pack(graph, node, rank - 1, rank - 2, 0);
}

Tensor pack_output_first(const Tensor& kernel) { return pack_kernel<true>(kernel); }
Tensor pack_output_last(const Tensor& kernel) { return pack_kernel<false>(kernel); }

std::size_t convolution_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  return Problem(step, binding.shapes[step.inputs[0]], binding.shapes[step.inputs[1]], binding.shapes[step.output()],
                 nullptr)
      .scratch.bytes();
}

void run_convolution(const Step& step, const Frame& frame) {
  const Problem problem(step, frame.shape(step.inputs[0]), frame.shape(step.inputs[1]), frame.shape(step.output()),
                        frame.scratch);
  if (problem.m == 0 || problem.n == 0) return;
  const std::size_t bytes = product_bytes(problem.dtype), parts = product_parts(problem.dtype);
  std::byte *const out = frame.out<std::byte>(step.output()), *const target = problem.result.target(out);
  PatchGeometry geometry = problem.geometry;
  const std::byte* x = problem.x.load(frame, frame.in<std::byte>(step.inputs[0]));
  const std::byte* kernel = problem.kernel ? problem.kernel->load(frame, frame.in<std::byte>(step.inputs[1])) : nullptr;
  if (problem.depthwise) {
    geometry.x = x;
    geometry.run_bytes = geometry.place_bytes;
    convolve_depthwise(geometry, problem.batch, reinterpret_cast<const float*>(kernel),
                       reinterpret_cast<float*>(target), frame.pool, frame.max_workers);
    return problem.result.store(frame, out);
  }
  if (problem.turned) {
    convolve_turned(problem, frame, x, kernel, target);
    return problem.result.store(frame, out);
  }
  std::size_t batch_bytes = problem.batch * geometry.place_bytes;  // of a group of the batch
  for (std::size_t i = 0; i < geometry.rank; ++i) batch_bytes *= geometry.axes[i].extent;
  for (std::size_t group = 0; group < problem.groups; ++group) {
    const void* packed = kernel == nullptr ? step.packed.bytes().data() : problem.packed;
    if (kernel != nullptr) {
      const void* w = kernel + group * (problem.n / parts) * (problem.k / parts) * bytes;
      if (parts > 1) {
        expand_complex(problem.dtype, w, problem.k / parts, problem.n / parts, problem.k / parts, problem.expanded);
        w = problem.expanded;
      }
      pack_product(product_dtype(problem.dtype), w, problem.k, problem.n, problem.k, problem.packed);
    }
    geometry.x = x + (problem.conv.batch_groups > 1 ? group * batch_bytes : group * geometry.run_bytes);
    convolve_group(problem, geometry, frame, packed, target + group * (problem.n / parts) * bytes);
  }
  problem.result.store(frame, out);
}

}  // namespace alate::cpu
