#include "graph/builder_functions.h"
#include "graph/decompose/widening.h"
#include "graph/functions/arguments.h"

namespace alate::graph {
namespace {

// The number of elements of the axes, in x's dtype, with extents of 1 for them: a constant, or counted in each run.
Value count_over(Builder& b, Value x, const Numbers& axes) {
  const Shape shape = b.shape(x);
  double count = 1;
  bool is_number = true;
  Dims kept = shape.dims;
  for (const std::int64_t axis : axes) {
    const auto at = static_cast<std::size_t>(axis);
    is_number = is_number && shape.dims[at].is_number();
    if (is_number) count *= static_cast<double>(shape.dims[at].number());
    kept[at] = 1;
  }
  if (is_number) return broadcast_to(b, b.scalar(shape.dtype, count), kept);
  return reduce_keep(b, Op::reduce_sum, scalar_like(b, 1, x), axes);
}

Value mean_over(Builder& b, Value x, const Numbers& axes) {
  return b.div({reduce_keep(b, Op::reduce_sum, x, axes), count_over(b, x, axes)});
}

}  // namespace

Value reduce_mean(Builder& b, Value x, const std::optional<Numbers>& axes, bool keep_dims) {
  const Arguments arguments{b, "reduce_mean", {&x, 1}};
  const Shape shape = b.shape(x);
  arguments.require(contains(kFloats | kComplex, shape.dtype), "takes floats and complex values");
  const std::vector<bool> is_named = arguments.named_axes(axes.value_or(Numbers()), shape.rank());
  Numbers reduced;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (!axes || is_named[i]) reduced.push_back(static_cast<std::int64_t>(i));
  }
  const Value mean = narrow(b, mean_over(b, widen(b, x), reduced), shape.dtype);
  return keep_dims ? mean : squeeze(b, mean, reduced);
}

Value instance_norm(Builder& b, Value x, Value scale, Value shift, double epsilon) {
  const Value values[] = {x, scale, shift};
  const Arguments arguments{b, "instance_norm", values};
  const Shape shape = b.shape(x);
  arguments.require_float(x);
  arguments.require(shape.rank() >= 2, "needs a batch and a channel axis");
  const Shape channels{shape.dtype, {shape.dims[1]}};
  arguments.require(b.shape(scale) == channels && b.shape(shift) == channels,
                    "scale and shift must have an element for each channel");
  Numbers axes;
  for (std::size_t i = 2; i < shape.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  const Value wide = widen(b, x);
  const Value centered = b.sub({wide, broadcast_to(b, mean_over(b, wide, axes), shape.dims)});
  const Value variance = mean_over(b, b.mul({centered, centered}), axes);
  const Value factor = b.rsqrt({b.add({variance, scalar_like(b, epsilon, variance)})});
  const auto over_channels = [&](Value row) {
    return b.broadcast_in_dim({widen(b, row)}, {.dims = shape.dims, .mapping = {1}});
  };
  const Value normal = b.mul({centered, broadcast_to(b, factor, shape.dims)});
  return narrow(b, b.add({b.mul({normal, over_channels(scale)}), over_channels(shift)}), shape.dtype);
}

}  // namespace alate::graph
