// Gradients of scatters. Only the out-of-range elements of an update window are skipped, so a window cannot be gathered
// as a whole: every element is looked up where it landed.
#include <algorithm>

#include "graph/gradients/rules.h"

namespace alate::graph {
namespace {

bool has(const Numbers& axes, std::size_t axis) {
  return std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != axes.end();
}

class Landing {
 public:
  explicit Landing(Backward& call) : b_(call.b), scatter_(call.as<Scatter>()), x_(call.x(0)), indices_(call.x(1)) {
    updates_ = call.x_shape(2).dims;
    for (std::size_t i = 0; i < updates_.size(); ++i) {
      if (!has(scatter_.update_window_dims, i)) batch_axes_.push_back(static_cast<std::int64_t>(i));
    }
    inside_ = repeated(b_.constant(Tensor::scalar(true)));
    const Dims extents = b_.shape(x_).dims;
    std::vector<Value> vectors;
    Dims with_vector = updates_;
    with_vector.emplace_back(1);
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      const Value place = places(axis);
      const Value extent = repeated(extent_of(b_, x_, axis, DType::i64));
      const Value is_inside =
          b_.logical_and({b_.greater_or_equal({place, repeated(b_.scalar(DType::i64, 0))}), b_.less({place, extent})});
      inside_ = b_.logical_and({inside_, is_inside});
      vectors.push_back(b_.reshape({place}, {.dims = with_vector}));
    }
    if (!vectors.empty()) vectors_ = b_.concatenate(vectors, {.axis = static_cast<std::int64_t>(updates_.size())});
  }

  /// Whether each element of the updates lands inside.
  Value inside() const { return inside_; }

  /// The elements of `from`, of operand 0's dims, where the updates land; unspecified for out-of-range updates.
  Value look_up(Value from) const {
    const Shape shape = b_.shape(from);
    if (shape.rank() == 0) return repeated(from);
    if (is_empty(shape)) return zeros(b_, {shape.dtype, updates_});
    Gather gather{.offset_dims = {},
                  .collapsed_slice_dims = {},
                  .start_index_map = {},
                  .index_vector_dim = static_cast<std::int64_t>(updates_.size()),
                  .slice_sizes = Dims(shape.rank(), 1)};
    for (std::size_t i = 0; i < shape.rank(); ++i) gather.collapsed_slice_dims.push_back(static_cast<std::int64_t>(i));
    gather.start_index_map = gather.collapsed_slice_dims;
    return b_.gather({from, vectors_}, std::move(gather));
  }

  /// The row-major index (i64) of each element of the updates.
  Value numbers() const {
    Value number = repeated(b_.scalar(DType::i64, 0));
    for (std::size_t i = 0; i < updates_.size(); ++i) {
      const Value along = indices_along(b_, updates_, i);
      number = b_.add({b_.mul({number, repeated(extent_of(b_, along, i, DType::i64))}), along});
    }
    return number;
  }

 private:
  Value repeated(Value scalar) const { return broadcast_to(b_, scalar, updates_); }

  // The index (i64) along an axis of operand 0 where each element of the updates lands.
  Value places(std::size_t axis) const {
    const auto found = std::find(scatter_.scatter_dims_to_operand_dims.begin(),
                                 scatter_.scatter_dims_to_operand_dims.end(), static_cast<std::int64_t>(axis));
    const auto batching = std::find(scatter_.input_batching_dims.begin(), scatter_.input_batching_dims.end(),
                                    static_cast<std::int64_t>(axis));
    if (batching != scatter_.input_batching_dims.end()) {
      const auto entry = static_cast<std::size_t>(batching - scatter_.input_batching_dims.begin());
      const std::int64_t of_indices = scatter_.scatter_indices_batching_dims[entry];
      const std::int64_t number = of_indices - (of_indices > scatter_.index_vector_dim ? 1 : 0);
      return indices_along(b_, updates_, static_cast<std::size_t>(batch_axes_[static_cast<std::size_t>(number)]));
    }
    Value place = repeated(b_.scalar(DType::i64, 0));
    if (found != scatter_.scatter_dims_to_operand_dims.end())
      place = starts(static_cast<std::size_t>(found - scatter_.scatter_dims_to_operand_dims.begin()));
    if (has(scatter_.inserted_window_dims, axis)) return place;
    std::size_t window = 0;  // which axis of a window this is
    for (std::size_t i = 0; i < axis; ++i)
      window += !has(scatter_.inserted_window_dims, i) && !has(scatter_.input_batching_dims, i) ? 1 : 0;
    const auto update_axis = static_cast<std::size_t>(scatter_.update_window_dims[window]);
    return b_.add({place, indices_along(b_, updates_, update_axis)});
  }

  // One entry of the index vectors, broadcast over the windows.
  Value starts(std::size_t entry) const {
    const Shape shape = b_.shape(indices_);
    Value start = b_.convert({indices_}, {.dtype = DType::i64});
    const auto vector_axis = static_cast<std::size_t>(scatter_.index_vector_dim);
    if (vector_axis < shape.rank()) {
      Slice part{.starts = Dims(shape.rank(), 0), .limits = shape.dims, .strides = {}};
      part.starts[vector_axis] = static_cast<std::int64_t>(entry);
      part.limits[vector_axis] = static_cast<std::int64_t>(entry) + 1;
      Dims without = shape.dims;
      without.erase(without.begin() + scatter_.index_vector_dim);
      start = b_.reshape({b_.slice({start}, std::move(part))}, {.dims = std::move(without)});
    }
    return b_.broadcast_in_dim({start}, {.dims = updates_, .mapping = batch_axes_});
  }

  Builder& b_;
  Scatter scatter_;
  Value x_, indices_, vectors_, inside_;
  Dims updates_;
  Numbers batch_axes_;  // axes of the updates that enumerate index vectors
};

void scatter_sum(Backward& call) {
  Builder& b = call.b;
  call.give(0, call.g());
  if (!call.wants(2)) return;
  const Landing landing(call);
  call.give(2, b.select({landing.inside(), landing.look_up(call.g()), zeros(b, call.x_shape(2))}));
}

// The last of several updates of one element wins: the one whose number is there after scattering the numbers.
void scatter_set(Backward& call) {
  Builder& b = call.b;
  const Shape x = call.x_shape(), updates = call.x_shape(2);
  const Scatter scatter = call.as<Scatter>();
  if (call.wants(0)) call.give(0, b.scatter_set({call.g(), call.x(1), zeros(b, updates)}, scatter));
  if (!call.wants(2)) return;
  const Landing landing(call);
  const Value numbers = landing.numbers();
  const Value none = broadcast_to(b, b.scalar(DType::i64, -1), x.dims);
  const Value winners = landing.look_up(b.scatter_set({none, call.x(1), numbers}, scatter));
  const Value stays = b.logical_and({landing.inside(), b.equal({winners, numbers})});
  call.give(2, b.select({stays, landing.look_up(call.g()), zeros(b, updates)}));
}

// Equal shares to all elements that equal the result.
void scatter_extreme(Backward& call) {
  Builder& b = call.b;
  const Shape x = call.x_shape(), updates = call.x_shape(2);
  Landing landing(call);
  const Value from_x = b.equal({call.x(0), call.y()});
  const Value from_updates = b.logical_and({landing.inside(), b.equal({call.x(2), landing.look_up(call.y())})});
  const Value count =
      b.scatter_sum({b.convert({from_x}, {.dtype = x.dtype}), call.x(1), b.convert({from_updates}, {.dtype = x.dtype})},
                    call.as<Scatter>());
  const Value share = b.div({call.g(), count});
  if (call.wants(0)) call.give(0, b.select({from_x, share, zeros(b, x)}));
  if (call.wants(2)) call.give(2, b.select({from_updates, landing.look_up(share), zeros(b, updates)}));
}

constexpr GradientRule kScatterRules[] = {
    {Op::scatter_set, scatter_set},
    {Op::scatter_sum, scatter_sum},
    {Op::scatter_max, scatter_extreme},
    {Op::scatter_min, scatter_extreme},
};

}  // namespace

std::span<const GradientRule> scatter_gradients() { return kScatterRules; }

}  // namespace alate::graph
