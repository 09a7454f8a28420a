// Convolutions as matrix products: with channels last, a window is a row, and the kernel is a matrix.
#include <algorithm>

#include "backends/cpu/kernels/gemm/product.h"
#include "backends/cpu/steps/products/convolution_problem.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {
namespace {

void convolve_lines(const ConvolutionProblem& problem, const PatchGeometry& geometry, const Frame& frame,
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

// Multiplies the windows of one group with its kernel.
void convolve_group(const ConvolutionProblem& problem, const PatchGeometry& geometry, const Frame& frame,
                    const void* packed, std::byte* out) {
  const std::size_t parts = product_parts(problem.dtype), bytes = product_bytes(problem.dtype) / parts;
  const DType computed = product_dtype(problem.dtype);
  ProductArguments arguments;
  arguments.packed = packed;
  arguments.n = problem.n;
  arguments.k = problem.k;
  arguments.c_stride = problem.features * parts;
  if (problem.form == ConvolutionForm::pointwise) {
    arguments.a = geometry.x;
    arguments.a_stride = geometry.place_bytes / bytes;
    arguments.c = out;
    arguments.m = problem.m;
    return multiply(computed, arguments, frame.pool, frame.max_workers);
  }
  if (problem.form == ConvolutionForm::lines) {
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

// One product per batch entry and group, with x as the packed matrix.
void convolve_turned(const ConvolutionProblem& problem, const Frame& frame, const std::byte* x, const std::byte* kernel,
                     std::byte* out) {
  const DType computed = product_dtype(problem.dtype);
  const std::size_t bytes = product_bytes(problem.dtype), places = problem.geometry.places_per_batch();
  const std::size_t feature_groups = static_cast<std::size_t>(problem.conv.feature_groups);
  // Feature groups lie within a batch entry; batch groups follow each other.
  const auto product_of = [&](std::size_t index, std::size_t first, std::size_t count, std::byte* packed,
                              std::size_t workers) {
    const std::size_t group = index / problem.batch, i = index % problem.batch;
    const std::size_t entry = feature_groups > 1 ? i * feature_groups + group : index;
    pack_transposed_product(computed, x + (entry * problem.k * places + first) * bytes, places, count, problem.k,
                            packed, frame.pool, workers);
    ProductArguments arguments;
    arguments.a = kernel + group * problem.n * problem.k * bytes;
    arguments.packed = packed;
    arguments.a_stride = arguments.k = problem.k;
    arguments.c = out + ((i * problem.features + group * problem.n) * places + first) * bytes;
    arguments.c_stride = places;
    arguments.m = problem.n;
    arguments.n = count;
    multiply(computed, arguments, frame.pool, workers);
  };
  const std::size_t entries = problem.groups * problem.batch;
  const std::size_t blocks = (places + problem.turned_block - 1) / problem.turned_block;
  const std::size_t workers =
      frame.max_workers == 0 ? frame.pool.size() : std::min(frame.max_workers, frame.pool.size());
  constexpr std::size_t kTasksPerWorker = 4;
  if (workers > 1 && entries * blocks < kTasksPerWorker * workers) {  // too few blocks for a thread each
    for (std::size_t index = 0; index < entries; ++index)
      product_of(index, 0, places, problem.packed, frame.max_workers);
    return;
  }
  const auto run_block = [&](std::size_t task, std::size_t worker) {
    const std::size_t first = task % blocks * problem.turned_block;
    product_of(task / blocks, first, std::min(problem.turned_block, places - first),
               problem.packed + worker * problem.packed_block_bytes, 1);
  };
  if (workers > 1) return frame.pool.parallel_for(entries * blocks, workers, run_block);
  for (std::size_t task = 0; task < entries * blocks; ++task) run_block(task, 0);
}

}  // namespace

std::size_t convolution_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  return ConvolutionProblem(step, binding.shapes[step.inputs[0]], binding.shapes[step.inputs[1]],
                            binding.shapes[step.output()], nullptr)
      .scratch.bytes();
}

void run_convolution(const Step& step, const Frame& frame) {
  const ConvolutionProblem problem(step, frame.shape(step.inputs[0]), frame.shape(step.inputs[1]),
                                   frame.shape(step.output()), frame.scratch);
  if (problem.m == 0 || problem.n == 0) return;
  const std::size_t bytes = product_bytes(problem.dtype), parts = product_parts(problem.dtype);
  std::byte *const out = frame.out<std::byte>(step.output()), *const target = problem.result.target(out);
  PatchGeometry geometry = problem.geometry;
  const std::byte* x = problem.x.load(frame, frame.in<std::byte>(step.inputs[0]));
  const std::byte* kernel = problem.kernel ? problem.kernel->load(frame, frame.in<std::byte>(step.inputs[1])) : nullptr;
  if (problem.form == ConvolutionForm::depthwise) {
    geometry.x = x;
    geometry.run_bytes = geometry.place_bytes;
    const std::byte* weights = kernel == nullptr ? step.packed.front().bytes().data() : kernel;
    convolve_depthwise(geometry, problem.batch, reinterpret_cast<const float*>(weights),
                       reinterpret_cast<float*>(target), frame.pool, frame.max_workers);
    return problem.result.store(frame, out);
  }
  if (problem.form == ConvolutionForm::turned) {
    convolve_turned(problem, frame, x, kernel, target);
    return problem.result.store(frame, out);
  }
  std::size_t batch_bytes = problem.batch * geometry.place_bytes;  // of one batch group
  for (std::size_t i = 0; i < geometry.rank; ++i) batch_bytes *= geometry.axes[i].extent;
  for (std::size_t group = 0; group < problem.groups; ++group) {
    const void* packed = kernel == nullptr ? step.packed.front().bytes().data() : problem.packed;
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
