// Reductions over any axes of any type.
#include "backends/cpu/kernels/reduce.h"

#include <algorithm>
#include <optional>

#include "backends/cpu/kernels/reduce_any.h"
#include "backends/cpu/kernels/row_split.h"
#include "backends/cpu/kernels/transpose.h"
#include "backends/cpu/steps/steps.h"

namespace alate::cpu {
namespace {

using graph::Op;

constexpr std::size_t kAlignment = 64;

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

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }
DType computed_type(DType dtype) { return is_half(dtype) ? DType::f32 : dtype; }

/// What is reduced as [outer, length, inner]; where the axes are no neighbours, after a copy with them last.
struct Layout {
  std::size_t outer = 1, length = 1, inner = 1;
  bool copies = false;
  std::vector<std::size_t> order;  // of the axes in the copy
};

Layout layout_of(const Shape& shape, graph::Numbers axes) {
  std::sort(axes.begin(), axes.end());
  Layout layout;
  std::vector<bool> is_reduced(shape.rank());
  for (const std::int64_t axis : axes) is_reduced[static_cast<std::size_t>(axis)] = true;
  // Axes of one element are reduced wherever they stand.
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

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void copy_in_order(const Frame& frame, const Shape& shape, const std::vector<std::size_t>& order, std::byte* out,
                   const std::byte* in) {
  std::vector<std::ptrdiff_t> dense(shape.rank()), strides;
  std::ptrdiff_t next = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    dense[i] = next;
    next *= static_cast<std::ptrdiff_t>(extent_of(shape, i));
  }
  std::vector<std::size_t> extents;
  for (const std::size_t axis : order) {
    strides.push_back(dense[axis]);
    extents.push_back(extent_of(shape, axis));
  }
  copy_strided(in, strides, out, extents, bytes_for(shape.dtype, 1), frame.pool, frame.max_workers);
}

void convert(const Frame& frame, const TileKernel& kernel, const std::byte* from, std::size_t from_bytes, std::byte* to,
             std::size_t to_bytes, std::size_t n) {
  split_rows(n, 2, frame.pool, frame.max_workers, [&](std::size_t begin, std::size_t end) {
    const void* operand = from + begin * from_bytes;
    kernel(&operand, to + begin * to_bytes, end - begin);
  });
}

std::optional<ReduceOp> own_f32(TileOp op) {
  switch (op) {
    case TileOp::add: return ReduceOp::sum;
    case TileOp::multiply: return ReduceOp::product;
    case TileOp::maximum: return ReduceOp::max;
    case TileOp::minimum: return ReduceOp::min;
    default: return std::nullopt;
  }
}

void reduce_computed(const Frame& frame, TileOp op, DType dtype, const Layout& layout, const std::byte* in,
                     std::byte* out) {
  if (const std::optional<ReduceOp> own = own_f32(op); own && dtype == DType::f32) {
    reduce(
        *own,
        {reinterpret_cast<const float*>(in), reinterpret_cast<float*>(out), layout.outer, layout.length, layout.inner},
        frame.pool, frame.max_workers);
    return;
  }
  reduce_any(reduce_loop(op, dtype), {in, out, layout.outer, layout.length, layout.inner}, bytes_for(dtype, 1),
             frame.pool, frame.max_workers);
}

}  // namespace

bool has_reduction(Op op, DType dtype) {
  const std::optional<TileOp> joining = joining_op(op);
  return joining && bits_of(dtype) >= 8 && reduce_loop(*joining, computed_type(dtype)) != nullptr;
}

// A copy in another order, and, for halves, operand and result as f32.
std::size_t reduce_scratch(const Step& step, const Binding& binding, std::size_t /*index*/) {
  const Shape& x = binding.shapes[step.inputs[0]];
  std::size_t bytes = 0;
  if (layout_of(x, std::get<graph::Axes>(step.attributes).axes).copies) bytes += aligned(x.byte_count());
  if (is_half(x.dtype)) {
    bytes += aligned(count_of(x) * sizeof(float));
    bytes += aligned(count_of(binding.shapes[step.output()]) * sizeof(float));
  }
  return bytes;
}

void run_reduce(const Step& step, const Frame& frame) {
  const Shape &x = frame.shape(step.inputs[0]), &result = frame.shape(step.output());
  if (count_of(result) == 0) return;
  const Layout layout = layout_of(x, std::get<graph::Axes>(step.attributes).axes);
  const TileOp op = *joining_op(step.operation->op);
  const std::byte* in = frame.in<std::byte>(step.inputs[0]);
  std::byte* free = frame.scratch;
  if (layout.copies) {
    copy_in_order(frame, x, layout.order, free, in);
    in = free;
    free += aligned(x.byte_count());
  }
  std::byte* out = frame.out<std::byte>(step.output());
  if (!is_half(x.dtype)) return reduce_computed(frame, op, x.dtype, layout, in, out);
  const std::size_t count = count_of(x), half = bytes_for(x.dtype, 1);
  std::byte* wide_out = free + aligned(count * sizeof(float));
  convert(frame, tile_conversion(x.dtype, DType::f32), in, half, free, sizeof(float), count);
  reduce_computed(frame, op, DType::f32, layout, free, wide_out);
  convert(frame, tile_conversion(DType::f32, x.dtype), wide_out, sizeof(float), out, half, count_of(result));
}

}  // namespace alate::cpu
