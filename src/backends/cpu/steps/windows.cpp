// Reductions over windows, and select_and_scatter, the gradient of max pooling.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/moving/scatter_window.h"
#include "backends/cpu/kernels/windows/window.h"
#include "backends/cpu/steps/products/halves.h"
#include "backends/cpu/steps/products/product_values.h"
#include "backends/cpu/steps/steps.h"
#include "graph/window_axis.h"
#include "tensor/packed.h"

namespace alate::cpu {
namespace {

// Halves are reduced as f32, packed integers as bytes.
DType joined_type(DType dtype) { return computed_type(tensor::carrier_of(dtype)); }

// An operand or result in the computed type; in scratch if that differs from its own.
struct Computed {
  DType dtype;
  std::size_t count;
  std::byte* memory = nullptr;

  Computed(const Shape& shape, ScratchParts& scratch) : dtype(shape.dtype), count(count_of(shape)) {
    if (joined_type(dtype) != dtype) memory = scratch.take(bytes());
  }
  std::size_t bytes() const { return count * (bits_of(joined_type(dtype)) / 8); }
  std::size_t stored_bytes() const { return bytes_for(dtype, static_cast<std::int64_t>(count)); }

  const std::byte* load(const Frame& frame, const std::byte* in) const {
    if (memory == nullptr || count == 0) return in;
    if (is_half(dtype))
      convert_values(frame, dtype, in, DType::f32, memory, count);
    else
      tensor::unpack(dtype, {in, stored_bytes()}, {memory, count});
    return memory;
  }
  std::byte* target(std::byte* out) const { return memory != nullptr ? memory : out; }
  void store(const Frame& frame, std::byte* out) const {
    if (memory == nullptr || count == 0) return;
    if (is_half(dtype))
      convert_values(frame, DType::f32, memory, dtype, out, count);
    else
      tensor::pack(dtype, {memory, count}, {out, stored_bytes()});
  }
};

TileOp joining(graph::Reduction reduction) {
  switch (reduction) {
    case graph::Reduction::product: return TileOp::multiply;
    case graph::Reduction::max: return TileOp::maximum;
    case graph::Reduction::min: return TileOp::minimum;
    default: return TileOp::add;
  }
}

// The passes of a reduction, one per axis: windows over several axes are windows of windows.
struct Passes {
  std::vector<WindowPass> list;
  std::size_t largest = 0;  // most elements between passes

  Passes(const graph::Window& window, const Shape& x, const Shape& result) {
    std::vector<std::size_t> extents;
    for (std::size_t i = 0; i < x.rank(); ++i) extents.push_back(extent_of(x, i));
    for (std::size_t i = 0; i < x.rank(); ++i) {
      const graph::WindowAxis axis = graph::window_axis(window, i);
      const std::size_t count = extent_of(result, i);
      if (axis.window == 1 && axis.stride == 1 && axis.base_dilation == 1 && axis.low == 0 && count == extents[i])
        continue;
      WindowPass pass;
      for (std::size_t j = 0; j < i; ++j) pass.outer *= extents[j];
      for (std::size_t j = i + 1; j < x.rank(); ++j) pass.inner *= extents[j];
      pass.extent = extents[i];
      pass.count = extents[i] = count;
      pass.window = axis.window;
      pass.stride = axis.stride;
      pass.low = axis.low;
      pass.base_dilation = axis.base_dilation;
      pass.window_dilation = axis.window_dilation;
      list.push_back(pass);
      largest = std::max(largest, pass.outer * pass.count * pass.inner);
    }
  }
};

struct WindowProblem {
  ScratchParts scratch;
  Computed x, result;
  Passes passes;
  std::byte* between[2] = {};

  WindowProblem(const graph::Window& window, const Shape& in, const Shape& out, std::byte* memory)
      : scratch(memory), x(in, scratch), result(out, scratch), passes(window, in, out) {
    const std::size_t bytes = passes.largest * (bits_of(joined_type(in.dtype)) / 8);
    for (std::size_t i = 0; i + 1 < std::min<std::size_t>(passes.list.size(), 3); ++i) between[i] = scratch.take(bytes);
  }
};

// The identities for bytes are outside the range of the packed types they carry: clamps results of empty windows.
void clamp_packed(DType dtype, std::byte* bytes, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (is_signed_integer(dtype)) {
      const auto value = static_cast<std::int8_t>(bytes[i]);
      bytes[i] = static_cast<std::byte>(std::clamp<std::int8_t>(value, -8, 7));
    } else {
      bytes[i] = std::min(bytes[i], std::byte{15});
    }
  }
}

}  // namespace

std::size_t reduce_window_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  return WindowProblem(std::get<graph::Window>(step.attributes), binding.shapes[step.inputs[0]],
                       binding.shapes[step.output()], nullptr)
      .scratch.bytes();
}

void run_reduce_window(const Step& step, const Frame& frame) {
  const auto& window = std::get<graph::Window>(step.attributes);
  const Shape& result = frame.shape(step.output());
  if (count_of(result) == 0) return;
  const WindowProblem problem(window, frame.shape(step.inputs[0]), result, frame.scratch);
  std::byte *const out = frame.out<std::byte>(step.output()), *const target = problem.result.target(out);
  const std::byte* x = problem.x.load(frame, frame.in<std::byte>(step.inputs[0]));
  const TileOp op = joining(window.reduction);
  const WindowLoop loop = window_loop(op, joined_type(result.dtype));
  const std::size_t passes = problem.passes.list.size();
  if (passes == 0) std::memcpy(target, x, problem.result.bytes());
  for (std::size_t i = 0; i < passes; ++i) {
    WindowPass pass = problem.passes.list[i];
    pass.x = x;
    pass.out = i + 1 == passes ? target : problem.between[i % 2];
    reduce_window(loop, pass, frame.pool, frame.max_workers);
    x = static_cast<const std::byte*>(pass.out);
  }
  if (tensor::is_packed(result.dtype) && (op == TileOp::maximum || op == TileOp::minimum))
    clamp_packed(result.dtype, target, problem.result.count);
  problem.result.store(frame, out);
}

namespace {

struct SelectProblem {
  ScratchParts scratch;
  Computed x, source, result;
  SelectProblem(const Shape& in, const Shape& windows, std::byte* memory)
      : scratch(memory), x(in, scratch), source(windows, scratch), result(in, scratch) {}
};

bool is_whole(const graph::WindowAxis& axis) {
  return axis.window == 1 && axis.stride == 1 && axis.low == 0 && axis.high == 0;
}

}  // namespace

std::size_t select_and_scatter_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  return SelectProblem(binding.shapes[step.inputs[0]], binding.shapes[step.inputs[1]], nullptr).scratch.bytes();
}

void run_select_and_scatter(const Step& step, const Frame& frame) {
  const auto& window = std::get<graph::SelectWindow>(step.attributes);
  const Shape &x = frame.shape(step.inputs[0]), &windows = frame.shape(step.inputs[1]);
  if (count_of(x) == 0) return;
  const SelectProblem problem(x, windows, frame.scratch);
  std::byte* const out = frame.out<std::byte>(step.output());
  SelectAndScatter arguments;
  arguments.x = problem.x.load(frame, frame.in<std::byte>(step.inputs[0]));
  arguments.source = problem.source.load(frame, frame.in<std::byte>(step.inputs[1]));
  arguments.out = problem.result.target(out);
  arguments.is_max = step.operation->op == graph::Op::select_and_scatter_max;
  // Axes before the first and after the last with windows need no search.
  std::size_t first = 0, end = x.rank();
  while (first < end && is_whole(graph::window_axis(window, first))) arguments.outer *= extent_of(x, first++);
  while (end > first && is_whole(graph::window_axis(window, end - 1))) arguments.inner *= extent_of(x, --end);
  for (std::size_t i = first; i < end; ++i) {
    const graph::WindowAxis axis = graph::window_axis(window, i);
    arguments.axes[arguments.rank++] = {extent_of(x, i), extent_of(windows, i), static_cast<std::size_t>(axis.window),
                                        axis.stride, axis.low};
  }
  if (arguments.rank == 0) arguments.axes[arguments.rank++] = {};
  select_and_scatter(joined_type(x.dtype), arguments, frame.pool, frame.max_workers);
  problem.result.store(frame, out);
}

}  // namespace alate::cpu
