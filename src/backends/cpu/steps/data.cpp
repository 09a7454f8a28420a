// Steps that move elements to positions known when planning.
#include <cstring>

#include "alate/error.h"
#include "backends/cpu/kernels/moving/move.h"
#include "backends/cpu/kernels/moving/transpose.h"
#include "backends/cpu/steps/layout.h"
#include "tensor/element.h"
#include "tensor/packed.h"

namespace alate::cpu {
namespace {

void copy(const Frame& frame, const std::byte* in, const Strides& strides, const Shape& shape, std::byte* out) {
  copy_strided(in, strides, out, extents(shape), element_bytes(shape), frame.pool, frame.max_workers);
}

// Writes 0, 1, 2, … in one type.
void count_up(DType dtype, std::size_t length, std::byte* out) {
  if (is_integer(dtype)) {
    with_integer_type(dtype, [&]<typename T>(T) {
      for (std::size_t i = 0; i < length; ++i) reinterpret_cast<T*>(out)[i] = static_cast<T>(i);
    });
  } else if (dtype == DType::f32) {
    for (std::size_t i = 0; i < length; ++i) reinterpret_cast<float*>(out)[i] = static_cast<float>(i);
  } else {
    for (std::size_t i = 0; i < length; ++i)
      tensor::store_double(dtype, static_cast<double>(i), out + i * bytes_for(dtype, 1));
  }
}

}  // namespace

// The axis's values, each repeated along inner axes, and the sequence repeated along outer axes.
void run_iota(const Step& step, const Frame& frame) {
  const Shape& shape = frame.shape(step.output());
  if (count_of(shape) == 0) return;
  const AroundAxis around = around_axis(shape, std::get<graph::Iota>(step.attributes).axis);
  count_up(shape.dtype, around.length, frame.scratch);
  const std::size_t dims[] = {around.outer, around.length, around.inner};
  const std::ptrdiff_t strides[] = {0, 1, 0};
  copy_strided(frame.scratch, strides, frame.out<std::byte>(step.output()), dims, element_bytes(shape), frame.pool,
               frame.max_workers);
}

std::size_t iota_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  const Shape& shape = binding.shapes[step.output()];
  return around_axis(shape, std::get<graph::Iota>(step.attributes).axis).length * element_bytes(shape);
}

void run_copy(const Step& step, const Frame& frame) {
  const Shape& shape = frame.shape(step.output());
  if (frame.in<std::byte>(step.inputs[0]) == frame.out<std::byte>(step.output()))
    return;                              // a loop's value in its place
  if (tensor::is_packed(shape.dtype)) {  // always dense: packed values have no strided views
    const std::size_t bytes = bytes_for(shape.dtype, static_cast<std::int64_t>(count_of(shape)));
    if (bytes > 0) std::memcpy(frame.out<std::byte>(step.output()), frame.in<std::byte>(step.inputs[0]), bytes);
    return;
  }
  Strides strides = row_major_strides(shape);
  if (!strides.empty()) strides[0] = static_cast<std::ptrdiff_t>(frame.row_stride(step.inputs[0]));
  copy(frame, frame.in<std::byte>(step.inputs[0]), strides, shape, frame.out<std::byte>(step.output()));
}

void run_transpose(const Step& step, const Frame& frame) {
  const Strides from = row_major_strides(frame.shape(step.inputs[0]));
  Strides strides;
  for (const std::int64_t axis : std::get<graph::Permutation>(step.attributes).permutation)
    strides.push_back(from[static_cast<std::size_t>(axis)]);
  copy(frame, frame.in<std::byte>(step.inputs[0]), strides, frame.shape(step.output()),
       frame.out<std::byte>(step.output()));
}

void run_broadcast(const Step& step, const Frame& frame) {
  const Shape &x = frame.shape(step.inputs[0]), &result = frame.shape(step.output());
  const Strides from = row_major_strides(x);
  Strides strides(result.rank(), 0);
  const graph::Numbers& mapping = std::get<graph::BroadcastInDim>(step.attributes).mapping;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (x.dims[i] != Dim(1)) strides[static_cast<std::size_t>(mapping[i])] = from[i];
  }
  copy(frame, frame.in<std::byte>(step.inputs[0]), strides, result, frame.out<std::byte>(step.output()));
}

void run_concatenate(const Step& step, const Frame& frame) {
  const Shape& result = frame.shape(step.output());
  if (count_of(result) == 0) return;
  const std::int64_t axis = std::get<graph::Axis>(step.attributes).axis;
  const AroundAxis whole = around_axis(result, axis);
  const std::ptrdiff_t strides[] = {static_cast<std::ptrdiff_t>(whole.length * whole.inner), 1};
  const std::size_t bytes = element_bytes(result);
  std::byte* out = frame.out<std::byte>(step.output());
  for (const SlotId input : step.inputs) {
    const std::size_t width = around_axis(frame.shape(input), axis).length * whole.inner;
    const std::ptrdiff_t from[] = {static_cast<std::ptrdiff_t>(width), 1};
    const std::size_t dims[] = {whole.outer, width};
    move_strided(frame.in<std::byte>(input), from, out, strides, dims, bytes, frame.pool, frame.max_workers);
    out += width * bytes;
  }
}

void run_slice(const Step& step, const Frame& frame) {
  const auto& [starts, limits, steps] = std::get<graph::Slice>(step.attributes);
  const Shape& x = frame.shape(step.inputs[0]);
  Strides strides = row_major_strides(x);
  std::ptrdiff_t offset = 0;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const std::int64_t start = (*frame.binding.dims)(starts[i]), limit = (*frame.binding.dims)(limits[i]);
    const std::int64_t extent = x.dims[i].number(), by = steps.empty() ? 1 : steps[i];
    if (start > limit || limit > extent) {
      throw make_error(ErrorCode::invalid_argument, "slice: limit ", limit, " of axis ", i, " is below the start ",
                       start, " or past the end of the value, which has ", extent, " entries in this run");
    }
    offset += strides[i] * start;
    strides[i] *= by < extent ? by : 0;  // a step past the end is never taken
  }
  if (count_of(frame.shape(step.output())) == 0) return;
  copy(frame, frame.in<std::byte>(step.inputs[0]) + static_cast<std::size_t>(offset) * element_bytes(x), strides,
       frame.shape(step.output()), frame.out<std::byte>(step.output()));
}

}  // namespace alate::cpu
