#include <algorithm>
#include <string>

#include "graph/shapes/axes.h"
#include "graph/shapes/rules.h"

namespace alate::graph {
namespace {

void require_regions(const InferenceInput& input, std::size_t count, std::string_view rule) {
  input.require(input.regions.size() == count && std::all_of(input.regions.begin(), input.regions.end(),
                                                             [](const Region& r) { return r != nullptr; }),
                rule);
}

std::string listed(const InferenceInput& input, std::span<const Shape> shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : ", ") + input.dims.to_string(shape);
  return "(" + text + ")";
}

// Checks that a region's outputs have these shapes.
void require_outputs(const InferenceInput& input, const Graph& region, std::span<const Shape> shapes,
                     std::string_view rule) {
  const std::vector<Shape> found = output_shapes(region);
  input.require(std::equal(found.begin(), found.end(), shapes.begin(), shapes.end()),
                [&] { return std::string(rule) + ": " + listed(input, shapes) + ", not " + listed(input, found); });
}

Shape scalar_of(const Shape& shape) { return {shape.dtype, {}}; }

// Checks that operands up to `count` have the dims of operand 0.
void require_same_dims(const InferenceInput& input, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) {
    input.require(input.operands[i].dims == input.operands[0].dims,
                  [&] { return "operand " + std::to_string(i) + " must have the dims of operand 0"; });
  }
}

}  // namespace

std::vector<Shape> infer_while_loop(const InferenceInput& input) {
  require_regions(input, 2, "needs the regions condition and body");
  const Graph& condition = require_region(input, 0, input.operands, "the condition");
  const Graph& body = require_region(input, 1, input.operands, "the body");
  require_outputs(input, condition, std::vector<Shape>{{DType::boolean, {}}},
                  "the condition must give one scalar bool");
  require_outputs(input, body, input.operands, "the body must give a value of the same shape for each that it takes");
  return {input.operands.begin(), input.operands.end()};
}

std::vector<Shape> infer_if_else(const InferenceInput& input) {
  require_regions(input, 2, "needs the regions then and else");
  input.require(!input.operands.empty() && input.operands[0] == Shape{DType::boolean, {}},
                "operand 0 must be a scalar bool");
  const Graph& then = require_region(input, 0, input.operands.subspan(1), "then");
  const Graph& otherwise = require_region(input, 1, input.operands.subspan(1), "else");
  std::vector<Shape> results = output_shapes(then);
  require_outputs(input, otherwise, results, "else must give values of the same shapes as then");
  return results;
}

std::vector<Shape> infer_call(const InferenceInput& input) {
  require_regions(input, 1, "needs the region that is called");
  return output_shapes(require_region(input, 0, input.operands, "the region"));
}

std::vector<Shape> infer_generic_reduce(const InferenceInput& input) {
  require_regions(input, 1, "needs the region that combines values");
  input.require(!input.operands.empty() && input.operands.size() % 2 == 0,
                "needs inputs, and for each a scalar to begin with");
  const std::size_t count = input.operands.size() / 2;
  require_same_dims(input, count);
  std::vector<Shape> scalars;
  for (std::size_t i = 0; i < count; ++i) {
    scalars.push_back(scalar_of(input.operands[i]));
    input.require(input.operands[count + i] == scalars[i], [&] {
      return "operand " + std::to_string(count + i) + ", to begin with, must be a scalar of the dtype of operand " +
             std::to_string(i);
    });
  }
  std::vector<Shape> taken = scalars;
  taken.insert(taken.end(), scalars.begin(), scalars.end());
  const Graph& combine = require_region(input, 0, taken, "the region");
  require_outputs(input, combine, scalars, "the region must give a scalar for each input");
  const Numbers& axes = input.as<Axes>().axes;
  input.require(are_distinct_axes(axes, input.operands[0].rank()), "axes must be different axes of operand 0");
  std::vector<Shape> results = std::move(scalars);
  for (Shape& result : results) {
    for (std::size_t i = 0; i < input.operands[0].rank(); ++i) {
      if (!names(axes, i)) result.dims.push_back(input.operands[0].dims[i]);
    }
  }
  return results;
}

std::vector<Shape> infer_sort(const InferenceInput& input) {
  require_regions(input, 1, "needs the region that compares");
  input.require(!input.operands.empty(), "needs at least one operand");
  require_same_dims(input, input.operands.size());
  require_axis(input, input.as<Sort>().axis, 0, "axis");
  std::vector<Shape> pairs;
  for (const Shape& operand : input.operands) pairs.insert(pairs.end(), 2, scalar_of(operand));
  const Graph& comes_before = require_region(input, 0, pairs, "the region");
  require_outputs(input, comes_before, std::vector<Shape>{{DType::boolean, {}}},
                  "the region must give one scalar bool");
  return {input.operands.begin(), input.operands.end()};
}

}  // namespace alate::graph
