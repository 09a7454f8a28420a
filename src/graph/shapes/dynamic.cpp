#include <limits>
#include <optional>

#include "graph/shapes/axes.h"
#include "graph/shapes/rules.h"

namespace alate::graph {
namespace {

// low + extent + (extent - 1) · interior + high, unless it overflows.
std::optional<std::int64_t> padded(std::int64_t extent, std::int64_t low, std::int64_t high, std::int64_t interior) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::int64_t between = extent > 0 ? extent - 1 : 0;
  if (interior > 0 && between > (kMost - extent) / interior) return std::nullopt;
  std::int64_t sum = extent + between * interior;
  for (const std::int64_t edge : {low, high}) {
    if (edge > 0 && sum > kMost - edge) return std::nullopt;
    sum += edge;  // a sum of nonnegative and negative numbers cannot overflow; two negative edges are caught below
    if (sum < std::numeric_limits<std::int64_t>::min() / 2) return std::nullopt;
  }
  return sum;
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
    input.require(x.dims[i].is_number(), axis + "a named extent cannot be padded, because the sum has no name");
    const std::optional<std::int64_t> extent = padded(x.dims[i].number(), low[i], high[i], between);
    input.require(extent.has_value(), axis + "the padded extent overflows");
    input.require(*extent >= 0, axis + "low and high cut off more than there is");
    result.dims.emplace_back(*extent);
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
