// Steps that move elements to positions known only at run time, or transpose and broadcast them.
#include <cstring>
#include <limits>

#include "alate/error.h"
#include "backends/cpu/kernels/moving/move.h"
#include "backends/cpu/kernels/moving/transpose.h"
#include "backends/cpu/steps/layout.h"
#include "graph/padded_axis.h"
#include "tensor/packed.h"

namespace alate::cpu {
namespace {

[[noreturn]] void fail(const Step& step, const Frame& frame, std::string_view what) {
  std::string shapes;
  for (const SlotId input : step.inputs) shapes += (shapes.empty() ? "" : ", ") + to_string(frame.shape(input));
  throw make_error(ErrorCode::invalid_argument, graph::to_string(step.operation->op), " of ", shapes,
                   step.source.empty() ? "" : " (from " + step.source + ")", ": ", what);
}

// Where a slice of `sizes` begins in input 0: the scalars from input `first` on, clamped so that the slice is inside.
std::ptrdiff_t clamped_start(const Step& step, const Frame& frame, std::size_t first, const Shape& sizes) {
  const Shape& x = frame.shape(step.inputs[0]);
  const Strides strides = row_major_strides(x);
  std::ptrdiff_t start = 0;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const std::int64_t room = x.dims[i].number() - sizes.dims[i].number();
    if (room < 0) fail(step, frame, "the slice is larger than operand 0");
    const SlotId scalar = step.inputs[first + i];
    const std::int64_t place = index_at(frame.shape(scalar), frame.in<std::byte>(scalar), 0);
    start += std::clamp<std::int64_t>(place, 0, room) * strides[i];
  }
  return start;
}

void move(const Frame& frame, const std::byte* in, const Strides& in_strides, std::byte* out,
          const Strides& out_strides, std::span<const std::size_t> dims, std::size_t bytes) {
  move_strided(in, in_strides, out, out_strides, dims, bytes, frame.pool, frame.max_workers);
}

}  // namespace

// https://openxla.org/stablehlo/spec#pad: element i goes to low + i · (interior + 1), and is dropped if outside.
void run_pad(const Step& step, const Frame& frame) {
  const auto& [low, high, interior] = std::get<graph::Pad>(step.attributes);
  const Shape &x = frame.shape(step.inputs[0]), &result = frame.shape(step.output());
  const std::size_t bytes = element_bytes(x), count = count_of(result);
  if (count == 0) return;
  const Strides from_strides = row_major_strides(x), strides = row_major_strides(result);
  Strides to_strides;
  std::vector<std::size_t> counts;
  std::ptrdiff_t from = 0, to = 0;
  std::size_t copied = 1;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const std::int64_t extent = x.dims[i].number();
    // With a single element, the distance to the next does not matter.
    const std::int64_t by = extent > 1 && !interior.empty() ? interior[i] + 1 : 1;
    const graph::KeptElements axis = graph::kept_elements(extent, low[i], by, result.dims[i].number());
    from += axis.first * from_strides[i];
    to += axis.to * strides[i];
    counts.push_back(static_cast<std::size_t>(axis.count));
    copied *= counts.back();
    to_strides.push_back(axis.count > 1 ? by * strides[i] : 0);
  }
  std::byte* out = frame.out<std::byte>(step.output());
  if (copied < count) {
    fill_elements(out, frame.in<std::byte>(step.inputs[1]), bytes, count, frame.pool, frame.max_workers);
  }
  if (copied == 0) return;
  move(frame, frame.in<std::byte>(step.inputs[0]) + static_cast<std::size_t>(from) * bytes, from_strides,
       out + static_cast<std::size_t>(to) * bytes, to_strides, counts, bytes);
}

void run_reverse(const Step& step, const Frame& frame) {
  const Shape& x = frame.shape(step.inputs[0]);
  if (count_of(x) == 0) return;
  Strides strides = row_major_strides(x);
  std::ptrdiff_t last = 0;
  for (const std::int64_t axis : std::get<graph::Axes>(step.attributes).axes) {
    std::ptrdiff_t& stride = strides[static_cast<std::size_t>(axis)];
    last += (x.dims[static_cast<std::size_t>(axis)].number() - 1) * stride;
    stride = -stride;
  }
  copy_strided(frame.in<std::byte>(step.inputs[0]) + static_cast<std::size_t>(last) * element_bytes(x), strides,
               frame.out<std::byte>(step.output()), extents(x), element_bytes(x), frame.pool, frame.max_workers);
}

void run_dynamic_slice(const Step& step, const Frame& frame) {
  const Shape &x = frame.shape(step.inputs[0]), &result = frame.shape(step.output());
  const std::ptrdiff_t start = clamped_start(step, frame, 1, result);
  if (count_of(result) == 0) return;
  copy_strided(frame.in<std::byte>(step.inputs[0]) + static_cast<std::size_t>(start) * element_bytes(x),
               row_major_strides(x), frame.out<std::byte>(step.output()), extents(result), element_bytes(x), frame.pool,
               frame.max_workers);
}

void run_dynamic_update_slice(const Step& step, const Frame& frame) {
  const Shape &x = frame.shape(step.inputs[0]), &update = frame.shape(step.inputs[1]);
  const std::ptrdiff_t start = clamped_start(step, frame, 2, update);
  std::byte* out = frame.out<std::byte>(step.output());
  move_bytes(frame.in<std::byte>(step.inputs[0]), out, x.byte_count(), frame.pool, frame.max_workers);
  if (count_of(update) == 0) return;
  move(frame, frame.in<std::byte>(step.inputs[1]), row_major_strides(update),
       out + static_cast<std::size_t>(start) * element_bytes(x), row_major_strides(x), extents(update),
       element_bytes(x));
}

void run_dimension_size(const Step& step, const Frame& frame) {
  const std::int64_t axis = std::get<graph::Axis>(step.attributes).axis;
  const std::int64_t extent = frame.shape(step.inputs[0]).dims[static_cast<std::size_t>(axis)].number();
  if (extent > std::numeric_limits<std::int32_t>::max()) fail(step, frame, "the extent is past the largest i32");
  *frame.out<std::int32_t>(step.output()) = static_cast<std::int32_t>(extent);
}

// The result is a view that the planner makes; only the extents remain to be checked.
void run_check_extents(const Step& step, const Frame& frame) {
  const Shape& wanted = frame.shape(step.inputs[0]);
  const Tensor given =
      tensor::unpacked(Tensor::borrow(frame.shape(step.inputs[1]), frame.in<std::byte>(step.inputs[1]), nullptr));
  for (std::size_t i = 0; i < wanted.rank(); ++i) {
    if (index_at(given.shape(), given.bytes().data(), static_cast<std::ptrdiff_t>(i)) != wanted.dims[i].number())
      fail(step, frame, "operand 1 does not have the extents of dims");
  }
}

void run_zeros(const Step& step, const Frame& frame) {
  for (const SlotId output : step.outputs) {
    const std::size_t bytes = frame.shape(output).byte_count();
    if (bytes > 0) std::memset(frame.out<std::byte>(output), 0, bytes);
  }
}

}  // namespace alate::cpu
