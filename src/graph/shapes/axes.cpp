#include "graph/shapes/axes.h"

#include <algorithm>

namespace alate::graph {

bool are_distinct_axes(const Numbers& axes, std::size_t rank) {
  std::vector<bool> seen(rank);
  for (const std::int64_t axis : axes) {
    if (axis < 0 || static_cast<std::uint64_t>(axis) >= rank || seen[static_cast<std::size_t>(axis)]) return false;
    seen[static_cast<std::size_t>(axis)] = true;
  }
  return true;
}

bool are_sorted(const Numbers& axes) { return std::is_sorted(axes.begin(), axes.end()); }

bool names(const Numbers& axes, std::size_t axis) {
  return std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != axes.end();
}

std::size_t require_axis(const InferenceInput& input, std::int64_t axis, std::size_t operand, std::string_view what) {
  const std::size_t rank = input.operands[operand].rank();
  if (axis < 0 || static_cast<std::uint64_t>(axis) >= rank) {
    input.fail(std::string(what) + " " + std::to_string(axis) + " is outside the rank " + std::to_string(rank) +
               " of operand " + std::to_string(operand));
  }
  return static_cast<std::size_t>(axis);
}

void require_dims(const InferenceInput& input, const Dims& dims, std::string_view what) {
  for (const Dim dim : dims) {
    input.require(dim.is_number() || static_cast<std::size_t>(dim.id()) < input.dims.size(),
                  [&] { return std::string(what) + " names a dim that is not in the dim table"; });
  }
  input.require(is_countable({DType::u8, dims}),
                [&] { return std::string(what) + ": the product of the extents overflows"; });
}

void require_start_indices(const InferenceInput& input, std::size_t first) {
  const std::size_t rank = input.operands[0].rank();
  input.require(input.operands.size() == first + rank, [&] {
    return "needs a place for each of the " + std::to_string(rank) +
           " axes of operand 0: " + std::to_string(first + rank) + " operands, not " +
           std::to_string(input.operands.size());
  });
  for (std::size_t i = first; i < input.operands.size(); ++i) {
    const Shape& place = input.operands[i];
    input.require(place.rank() == 0 && contains(kInts, place.dtype) && place.dtype == input.operands[first].dtype, [&] {
      return "operand " + std::to_string(i) + " must be an integer scalar, of one dtype with the other places";
    });
  }
}

void require_fits(const InferenceInput& input, Dim size, std::size_t operand, std::size_t axis, std::string_view what) {
  const Dim extent = input.operands[operand].dims[axis];
  input.require(!size.is_number() || !extent.is_number() || size.number() <= extent.number(), [&] {
    return std::string(what) + " is " + input.dims.to_string(size) + ", larger than axis " + std::to_string(axis) +
           " of operand " + std::to_string(operand) + ", which is " + input.dims.to_string(extent);
  });
}

std::vector<Shape> output_shapes(const Graph& region) {
  std::vector<Shape> shapes;
  for (const Output& output : region.outputs()) shapes.push_back(region.shape(output.value));
  return shapes;
}

const Graph& require_region(const InferenceInput& input, std::size_t place, std::span<const Shape> shapes,
                            std::string_view what) {
  const Graph& region = *input.regions[place];
  const auto parameters = region.parameters();
  input.require(parameters.size() == shapes.size(), [&] {
    return std::string(what) + " must have a parameter for each of " + std::to_string(shapes.size()) +
           " values, but has " + std::to_string(parameters.size());
  });
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    input.require(parameters[i].shape == shapes[i], [&] {
      return "parameter " + std::to_string(i) + " of " + std::string(what) + " is " +
             input.dims.to_string(parameters[i].shape) + ", the value " + input.dims.to_string(shapes[i]);
    });
  }
  return region;
}

}  // namespace alate::graph
