// Ops that move elements.
#include <algorithm>

#include "exchange/onnx/layout.h"
#include "exchange/onnx/spelling.h"

namespace alate::exchange::onnx {
namespace {

using graph::Op;

Numbers first_axes(std::size_t rank) { return other_axes(rank, {}); }

Terms same(const Call& c) { return c.operands; }

Terms iota(const Call& c) {
  const auto& [dtype, dims, axis] = c.as<graph::Iota>();
  const auto at = static_cast<std::size_t>(axis);
  return {expand(along_axis(to(count_to(c.e.extent(dims[at])), dtype), dims.size(), at), dims)};
}

Terms reshaped(const Call& c) { return {reshape(c[0], c.result().dims)}; }

// The extents in operand 1 must be the result's, else the model's run fails.
Terms dynamic_reshape(const Call& c) { return {reshape_to(c[0], to(c[1], DType::i64))}; }

Terms transposed(const Call& c) { return {transpose(c[0], c.as<graph::Permutation>().permutation)}; }

Terms broadcast_in_dim(const Call& c) {
  const auto& [dims, mapping] = c.as<graph::BroadcastInDim>();
  // ONNX broadcasting keeps the order of axes.
  Numbers order = first_axes(mapping.size());
  std::ranges::sort(order, {}, [&](std::int64_t i) { return mapping[static_cast<std::size_t>(i)]; });
  return {expand(unsqueeze(transpose(c[0], order), other_axes(dims.size(), mapping)), dims)};
}

Terms concatenated(const Call& c) { return {concatenate(c.operands, c.as<graph::Axis>().axis)}; }

Terms sliced(const Call& c) {
  const auto& [starts, limits, strides] = c.as<graph::Slice>();
  return {slice(c[0], first_axes(starts.size()), c.e.extents(starts), c.e.extents(limits),
                strides.empty() ? Numbers(starts.size(), 1) : strides)};
}

Terms padded(const Call& c) {
  const auto& [low, high, interior] = c.as<graph::Pad>();
  Term x = c[0];
  for (std::size_t i = 0; i < low.size(); ++i)
    x = pad_axis(x, c.shape().dims, i, c[1], low[i], high[i], interior.empty() ? 0 : interior[i]);
  return {x};
}

Terms reversed(const Call& c) { return {reverse(c[0], c.as<graph::Axes>().axes)}; }

// The start of a slice of `sizes`, clamped so that the slice is in bounds: i64 [rank].
Term clamped_starts(const Call& c, std::size_t first, const Term& sizes) {
  Terms starts;
  for (std::size_t i = first; i < c.operands.size(); ++i) starts.push_back(unsqueeze(as_indices(c[i]), {0}));
  const Term start = larger(concatenate(starts, 0), c.e.integer(DType::i64, 0));
  return smaller(start, c.e.extents(c.shape().dims) - sizes);
}

Terms dynamic_slice(const Call& c) {
  if (c.shape().rank() == 0) return {c[0]};
  const Term sizes = c.e.extents(c.result().dims), starts = clamped_starts(c, 1, sizes);
  const Numbers axes = first_axes(c.shape().rank());
  return {slice(c[0], axes, starts, starts + sizes, Numbers(axes.size(), 1))};
}

// x from `axis` on with the update inserted: the part before it, the update, and the part after it.
Term updated(const Call& c, const Term& x, std::int64_t axis, const Term& starts, const Term& limits) {
  if (axis == static_cast<std::int64_t>(c.shape().rank())) return c[1];
  Emitter& e = c.e;
  const Term start = entry(starts, e.integers({axis})), limit = entry(limits, e.integers({axis})),
             zero = e.integers({0}), end = e.integers({INT64_MAX});
  const Term inside = slice(x, {axis}, start, limit, {1});
  return concatenate({slice(x, {axis}, zero, start, {1}), updated(c, inside, axis + 1, starts, limits),
                      slice(x, {axis}, limit, end, {1})},
                     axis);
}

Terms dynamic_update_slice(const Call& c) {
  if (c.shape().rank() == 0) return {c[1]};
  const Term sizes = c.e.extents(c.shape(1).dims), starts = clamped_starts(c, 2, sizes);
  return {updated(c, c[0], 0, starts, starts + sizes)};
}

Terms dimension_size(const Call& c) {
  return {to(entry(shape_of(c[0]), c.e.integer(DType::i64, c.as<graph::Axis>().axis)), DType::i32)};
}

// With one device.
Terms permuted(const Call& c) {
  if (!c.as<graph::CollectivePermute>().source_target_pairs.empty()) return {c[0]};
  const DType dtype = c[0].dtype;
  return {expand(to(c.e.integer(DType::i64, 0), dtype), c.result().dims)};
}
Terms number_zero(const Call& c) { return {c.e.integer(DType::u32, 0)}; }

std::string refuse_place_dtype(const graph::Graph& /*graph*/, const graph::Node& node, int /*opset*/) {
  return graph::contains(kMoved & ~graph::set_of(DType::f16), node.results[0].dtype) ? "" : "no kernels for the dtype";
}

constexpr graph::DTypeSet kComputed = graph::kAll & kMoved;

constexpr Spelling kMovingRows[] = {
    {Op::iota, kMoved, "Range, Expand", iota, refuse_place_dtype},
    {Op::reshape, kMoved, "Reshape", reshaped},
    {Op::dynamic_reshape, kMoved, "Reshape", dynamic_reshape},
    {Op::transpose, kMoved, "Transpose", transposed},
    {Op::broadcast_in_dim, kMoved, "Unsqueeze, Expand", broadcast_in_dim},
    {Op::concatenate, kMoved, "Concat", concatenated},
    {Op::slice, kMoved, "Slice", sliced},
    {Op::pad, kMoved, "Concat, Slice", padded},
    {Op::reverse, kMoved, "Slice", reversed},
    {Op::dynamic_slice, kMoved, "Slice", dynamic_slice},
    {Op::dynamic_update_slice, kMoved, "Slice, Concat", dynamic_update_slice},
    {Op::dimension_size, kMoved, "Shape", dimension_size},
    {Op::optimization_barrier, graph::kAny, "(none)", same},
    {Op::scheduling_barrier, graph::kAny, "(none)", same},
    {Op::all_reduce, kComputed, "(none)", same},
    {Op::all_gather, kMoved, "(none)", same},
    {Op::all_to_all, kMoved, "(none)", same},
    {Op::reduce_scatter, kComputed, "(none)", same},
    {Op::collective_broadcast, kMoved, "(none)", same},
    {Op::collective_permute, kComputed, "Expand", permuted},
    {Op::replica_id, kMoved, "(none)", number_zero},
    {Op::partition_id, kMoved, "(none)", number_zero},
};

}  // namespace

std::span<const Spelling> moving_spellings() { return kMovingRows; }

}  // namespace alate::exchange::onnx
