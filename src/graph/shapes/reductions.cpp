#include <limits>

#include "graph/shapes/axes.h"
#include "graph/shapes/rules.h"

namespace alate::graph {
namespace {

// The largest index that an integer dtype can hold.
std::int64_t highest_place(DType dtype) {
  const std::size_t bits = bits_of(dtype) - (is_signed_integer(dtype) ? 1 : 0);
  return bits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
}

void require_places_fit(const InferenceInput& input, Dim extent, DType dtype) {
  input.require(!extent.is_number() || extent.number() - 1 <= highest_place(dtype), [&] {
    return "the last place along an axis of " + input.dims.to_string(extent) + " does not fit into " +
           std::string(alate::to_string(dtype));
  });
}

}  // namespace

std::vector<Shape> infer_reduce(const InferenceInput& input) {
  const Numbers& axes = input.as<Axes>().axes;
  const Shape& x = input.operands[0];
  input.require(are_distinct_axes(axes, x.rank()), "axes must be different axes of operand 0");
  Shape result{x.dtype, {}};
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (!names(axes, i)) result.dims.push_back(x.dims[i]);
  }
  return {result};
}

std::vector<Shape> infer_arg_min_max(const InferenceInput& input) {
  const ArgMinMax& attributes = input.as<ArgMinMax>();
  const std::size_t axis = require_axis(input, attributes.axis, 0, "axis");
  input.require(contains(kInts, attributes.dtype), "dtype must be an integer's");
  require_places_fit(input, input.operands[0].dims[axis], attributes.dtype);
  Shape result{attributes.dtype, input.operands[0].dims};
  result.dims.erase(result.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  return {result};
}

std::vector<Shape> infer_cumulative(const InferenceInput& input) {
  require_axis(input, input.as<Cumulative>().axis, 0, "axis");
  return {input.operands[0]};
}

std::vector<Shape> infer_top_k(const InferenceInput& input) {
  const std::int64_t k = input.as<TopK>().k;
  const Shape& x = input.operands[0];
  input.require(x.rank() > 0, "operand 0 needs a last axis");
  input.require(k >= 0, "k must not be negative");
  require_fits(input, k, 0, x.rank() - 1, "k");
  require_places_fit(input, x.dims.back(), DType::i32);
  Shape values = x;
  values.dims.back() = k;
  return {values, {DType::i32, values.dims}};
}

}  // namespace alate::graph
