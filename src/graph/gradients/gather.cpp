// Gradients of gather: cotangents are added where the slices came from.

#include "graph/gradients/rules.h"

namespace alate::graph {
namespace {

// The last valid start of a slice along the axis, as an i64 scalar.
Value last_start(Builder& b, Value x, std::size_t axis, Dim size) {
  const Dim extent = b.shape(x).dims[axis];
  if (extent == size) return b.scalar(DType::i64, 0);
  if (!extent.is_number()) {
    const Value room =
        b.sub({extent_of(b, x, axis, DType::i64), b.scalar(DType::i64, static_cast<double>(size.number()))});
    return b.max({room, b.scalar(DType::i64, 0)});
  }
  return b.scalar(DType::i64, static_cast<double>(extent.number() - size.number()));
}

// The index vectors as gather clamps them, in i64.
Value clamped_starts(Builder& b, Value x, Value indices, const Gather& gather) {
  const Shape shape = b.shape(indices);
  if (shape.dtype == DType::u64) {  // values above i64 are past every end
    const Value most = b.convert({b.scalar(DType::i64, 0x1p62)}, {.dtype = DType::u64});
    indices = b.min({indices, broadcast_to(b, most, shape.dims)});
  }
  indices = b.convert({indices}, {.dtype = DType::i64});
  std::vector<Value> lasts;
  for (const std::int64_t axis : gather.start_index_map) {
    const auto at = static_cast<std::size_t>(axis);
    lasts.push_back(b.reshape({last_start(b, x, at, gather.slice_sizes[at])}, {.dims = {1}}));
  }
  if (lasts.empty()) return indices;
  Value last = b.concatenate(lasts, {.axis = 0});
  const bool is_vector_axis = static_cast<std::size_t>(gather.index_vector_dim) < shape.rank();
  last = is_vector_axis ? b.broadcast_in_dim({last}, {.dims = shape.dims, .mapping = {gather.index_vector_dim}})
                        : broadcast_to(b, b.reshape({last}, {.dims = {}}), shape.dims);
  return b.clamp({b.scalar(DType::i64, 0), indices, last});
}

void gather(Backward& call) {
  Builder& b = call.b;
  const Gather gather = call.as<Gather>();
  if (!call.wants(0)) return;
  const Scatter scatter{.update_window_dims = gather.offset_dims,
                        .inserted_window_dims = gather.collapsed_slice_dims,
                        .input_batching_dims = gather.operand_batching_dims,
                        .scatter_indices_batching_dims = gather.start_indices_batching_dims,
                        .scatter_dims_to_operand_dims = gather.start_index_map,
                        .index_vector_dim = gather.index_vector_dim,
                        .unique_indices = false};
  const Value starts = clamped_starts(b, call.x(0), call.x(1), gather);
  call.give(0, is_empty(call.x_shape()) ? zeros(b, call.x_shape())
                                        : b.scatter_sum({zeros(b, call.x_shape()), starts, call.g()}, scatter));
}

constexpr GradientRule kGatherRules[] = {{Op::gather, gather}};

}  // namespace

std::span<const GradientRule> gather_gradients() { return kGatherRules; }

}  // namespace alate::graph
