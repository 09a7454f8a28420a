#include <algorithm>
#include <limits>

#include "graph/shapes/axes.h"
#include "graph/shapes/rules.h"

namespace alate::graph {
namespace {

// Sums of a few lengths up to this cannot overflow.
constexpr std::int64_t kMostPadding = std::int64_t{1} << 60;

// low + extent + (extent - 1) · interior + high.
DimForm padded(DimTable& dims, Dim extent, std::int64_t low, std::int64_t high, std::int64_t interior) {
  const DimForm elements = dims.form(extent), sum = elements + low + high;
  return interior == 0 ? sum : sum + dims.larger(elements - 1, 0) * interior;
}

}  // namespace

std::vector<Shape> infer_pad(const InferenceInput& input) {
  const auto& [low, high, interior] = input.as<Pad>();
  const Shape& x = input.operands[0];
  input.require(input.operands[1] == Shape{x.dtype, {}},
                "operand 1, the padding, must be a scalar of operand 0's dtype");
  input.require(low.size() == x.rank() && high.size() == x.rank() && (interior.empty() || interior.size() == x.rank()),
                "low, high and interior must have an entry for each axis of operand 0");
  Shape result{x.dtype, {}};
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const std::int64_t between = interior.empty() ? 0 : interior[i];
    const std::string axis = "axis " + std::to_string(i) + " of operand 0: ";
    input.require(between >= 0, axis + "interior must not be negative");
    if (low[i] == 0 && high[i] == 0 && between == 0) {
      result.dims.push_back(x.dims[i]);
      continue;
    }
    input.require(std::min(low[i], high[i]) >= -kMostPadding && std::max(low[i], high[i]) <= kMostPadding,
                  axis + "low or high is so large that it overflows");
    const DimForm extent = padded(input.dims, x.dims[i], low[i], high[i], between);
    input.require(input.dims.is_at_most(0, extent), axis + "low and high cut off more than there is");
    result.dims.push_back(input.dims.of(extent));
  }
  return {result};
}

std::vector<Shape> infer_reverse(const InferenceInput& input) {
  input.require(are_distinct_axes(input.as<Axes>().axes, input.operands[0].rank()),
                "axes must be different axes of operand 0");
  return {input.operands[0]};
}

std::vector<Shape> infer_dynamic_slice(const InferenceInput& input) {
  input.require(!input.operands.empty(), "needs an operand to slice");
  const Dims& sizes = input.as<DynamicSlice>().slice_sizes;
  const Shape& x = input.operands[0];
  require_start_indices(input, 1);
  input.require(sizes.size() == x.rank(), "slice_sizes must have an entry for each axis of operand 0");
  require_dims(input, sizes, "slice_sizes");
  for (std::size_t i = 0; i < x.rank(); ++i)
    require_fits(input, sizes[i], 0, i, "slice_sizes[" + std::to_string(i) + "]");
  return {{x.dtype, sizes}};
}

std::vector<Shape> infer_dynamic_update_slice(const InferenceInput& input) {
  input.require(input.operands.size() >= 2, "needs an operand and its update");
  const Shape &x = input.operands[0], &update = input.operands[1];
  require_start_indices(input, 2);
  input.require(update.dtype == x.dtype && update.rank() == x.rank(), "operand 1 must have operand 0's dtype and rank");
  for (std::size_t i = 0; i < x.rank(); ++i)
    require_fits(input, update.dims[i], 0, i, "axis " + std::to_string(i) + " of operand 1");
  return {x};
}

std::vector<Shape> infer_dimension_size(const InferenceInput& input) {
  const std::size_t axis = require_axis(input, input.as<Axis>().axis, 0, "axis");
  const Dim extent = input.operands[0].dims[axis];
  input.require(!extent.is_number() || extent.number() <= std::numeric_limits<std::int32_t>::max(),
                "the extent is past the largest i32");
  return {{DType::i32, {}}};
}

std::vector<Shape> infer_dynamic_reshape(const InferenceInput& input) {
  const Dims& dims = input.as<Reshape>().dims;
  const Shape& wanted = input.operands[1];
  input.require(contains(kInts, wanted.dtype) && wanted.dims == Dims{static_cast<std::int64_t>(dims.size())},
                [&] { return "operand 1 must be " + std::to_string(dims.size()) + " integers, one for each of dims"; });
  return infer_reshape(input);
}

}  // namespace alate::graph
