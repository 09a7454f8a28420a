// Reductions over any axes, of any type.
#include "backends/cpu/kernels/rows/reduce.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "backends/cpu/kernels/moving/transpose.h"
#include "backends/cpu/kernels/vectors/row_split.h"
#include "backends/cpu/steps/products/halves.h"
#include "backends/cpu/steps/reduce_values.h"

namespace alate::cpu {
namespace {

using graph::Op;

std::optional<TileOp> joining_op(Op op) {
  switch (op) {
    case Op::reduce_sum: return TileOp::add;
    case Op::reduce_product: return TileOp::multiply;
    case Op::reduce_max: return TileOp::maximum;
    case Op::reduce_min: return TileOp::minimum;
    case Op::reduce_and:
    case Op::reduce_bitwise_and: return TileOp::bitwise_and;
    case Op::reduce_or:
    case Op::reduce_bitwise_or: return TileOp::bitwise_or;
    case Op::reduce_xor:
    case Op::reduce_bitwise_xor: return TileOp::bitwise_xor;
    default: return std::nullopt;
  }
}

/// The operand as [outer, length, inner]; if the reduced axes are not adjacent, after a copy with them last.
struct Layout {
  std::size_t outer = 1, length = 1, inner = 1;
  bool copies = false;
  std::vector<std::size_t> order;  // axis order of the copy
};

Layout layout_of(const Shape& shape, graph::Numbers axes) {
  std::sort(axes.begin(), axes.end());
  Layout layout;
  std::vector<bool> is_reduced(shape.rank());
  for (const std::int64_t axis : axes) is_reduced[static_cast<std::size_t>(axis)] = true;
  // Axes of extent 1 do not matter, wherever they are.
  std::size_t first = shape.rank(), last = 0, extents = 1;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (!is_reduced[i] || extent_of(shape, i) == 1) continue;
    first = std::min(first, i);
    last = i + 1;
    layout.length *= extent_of(shape, i);
  }
  for (std::size_t i = first; i < last; ++i) extents *= extent_of(shape, i);
  layout.copies = extents != layout.length;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (is_reduced[i]) continue;
    layout.order.push_back(i);
    (layout.copies || i < first ? layout.outer : layout.inner) *= extent_of(shape, i);
  }
  for (const std::int64_t axis : axes) layout.order.push_back(static_cast<std::size_t>(axis));
  return layout;
}

void copy_in_order(const Frame& frame, const Shape& shape, const std::vector<std::size_t>& order, std::byte* out,
                   const std::byte* in) {
  const Strides dense = row_major_strides(shape);
  Strides strides;
  std::vector<std::size_t> extents;
  for (const std::size_t axis : order) {
    strides.push_back(dense[axis]);
    extents.push_back(extent_of(shape, axis));
  }
  copy_strided(in, strides, out, extents, bytes_for(shape.dtype, 1), frame.pool, frame.max_workers);
}

void reduce_computed(const Frame& frame, TileOp op, DType dtype, const Layout& layout, const std::byte* in,
                     std::byte* out) {
  reduce(op, dtype, {in, out, layout.outer, layout.length, layout.inner}, frame.pool, frame.max_workers);
}

// result = op(start, result) for every result.
void join_start(const Frame& frame, TileOp op, DType dtype, const std::byte* start, std::byte* results,
                std::size_t count) {
  constexpr std::size_t kBlock = 256;
  const std::size_t bytes = bytes_for(dtype, 1);
  alignas(64) std::array<std::byte, kBlock * 16> starts;
  for (std::size_t i = 0; i < kBlock; ++i) std::memcpy(starts.data() + i * bytes, start, bytes);
  const TileKernel kernel = tile_kernel(op, dtype);
  split_rows((count + kBlock - 1) / kBlock, kBlock, frame.pool, frame.max_workers,
             [&](std::size_t begin, std::size_t end) {
               for (std::size_t block = begin; block < end; ++block) {
                 std::byte* const to = results + block * kBlock * bytes;
                 const void* operands[] = {starts.data(), to};
                 kernel(operands, to, std::min(kBlock, count - block * kBlock));
               }
             });
}

}  // namespace

bool has_reduction(Op op, DType dtype) {
  const std::optional<TileOp> joining = joining_op(op);
  return joining && bits_of(dtype) >= 8 && reduce_loop(*joining, computed_type(dtype)) != nullptr;
}

// For a copy in another axis order, and, for halves, operand and result as f32.
std::size_t reduce_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  const Shape& x = binding.shapes[step.inputs[0]];
  std::size_t bytes = 0;
  if (layout_of(x, std::get<graph::Axes>(step.attributes).axes).copies) bytes += scratch_aligned(x.byte_count());
  if (is_half(x.dtype)) bytes += widened_bytes(count_of(x)) + widened_bytes(count_of(binding.shapes[step.output()]));
  return bytes;
}

void reduce_values(const Step& step, const Frame& frame, TileOp op, const std::byte* start) {
  const Shape &x = frame.shape(step.inputs[0]), &result = frame.shape(step.output());
  const std::size_t results = count_of(result), count = count_of(x);
  if (results == 0) return;
  const Layout layout = layout_of(x, std::get<graph::Axes>(step.attributes).axes);
  const std::byte* in = frame.in<std::byte>(step.inputs[0]);
  std::byte* free = frame.scratch;
  if (layout.copies) {
    copy_in_order(frame, x, layout.order, free, in);
    in = free;
    free += scratch_aligned(x.byte_count());
  }
  std::byte* const out = frame.out<std::byte>(step.output());
  if (!is_half(x.dtype)) {
    reduce_computed(frame, op, x.dtype, layout, in, out);
    if (start != nullptr) join_start(frame, op, x.dtype, start, out, results);
    return;
  }
  std::byte* wide_out = free + widened_bytes(count);
  convert_values(frame, x.dtype, in, DType::f32, free, count);
  reduce_computed(frame, op, DType::f32, layout, free, wide_out);
  if (start != nullptr) {
    float wide_start = 0;
    convert_values(frame, x.dtype, start, DType::f32, &wide_start, 1);
    join_start(frame, op, DType::f32, reinterpret_cast<const std::byte*>(&wide_start), wide_out, results);
  }
  convert_values(frame, DType::f32, wide_out, x.dtype, out, results);
}

void run_reduce(const Step& step, const Frame& frame) {
  reduce_values(step, frame, *joining_op(step.operation->op), nullptr);
}

}  // namespace alate::cpu
