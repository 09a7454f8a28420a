#include "graph/shapes/rules.h"

namespace alate::graph {
namespace {

void require_parameters(const InferenceInput& input, const Graph& region, std::span<const Shape> shapes,
                        std::string_view which) {
  const std::string what(which);
  input.require(region.parameters().size() == shapes.size(), what + " must have a parameter for each value");
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    input.require(region.parameters()[i].shape == shapes[i], "parameter " + std::to_string(i) + " of " + what + " is " +
                                                                 input.dims.to_string(region.parameters()[i].shape) +
                                                                 ", the value " + input.dims.to_string(shapes[i]));
  }
}

std::vector<Shape> output_shapes(const Graph& region) {
  std::vector<Shape> shapes;
  for (const Output& output : region.outputs()) shapes.push_back(region.shape(output.value));
  return shapes;
}

}  // namespace

std::vector<Shape> infer_while_loop(const InferenceInput& input) {
  input.require(input.regions.size() == 2 && input.regions[0] && input.regions[1],
                "needs the regions condition and body");
  require_parameters(input, *input.regions[0], input.operands, "the condition");
  require_parameters(input, *input.regions[1], input.operands, "the body");
  const std::vector<Shape> condition = output_shapes(*input.regions[0]);
  input.require(condition.size() == 1 && condition[0] == Shape{DType::boolean, {}},
                "the condition must give one scalar bool");
  std::vector<Shape> results(input.operands.begin(), input.operands.end());
  input.require(output_shapes(*input.regions[1]) == results,
                "the body must give a value of the same shape for each that it takes");
  return results;
}

std::vector<Shape> infer_if_else(const InferenceInput& input) {
  input.require(input.regions.size() == 2 && input.regions[0] && input.regions[1], "needs the regions then and else");
  input.require(!input.operands.empty() && input.operands[0] == Shape{DType::boolean, {}},
                "operand 0 must be a scalar bool");
  require_parameters(input, *input.regions[0], input.operands.subspan(1), "then");
  require_parameters(input, *input.regions[1], input.operands.subspan(1), "else");
  const std::vector<Shape> results = output_shapes(*input.regions[0]);
  input.require(output_shapes(*input.regions[1]) == results, "then and else must give values of the same shapes");
  return results;
}

}  // namespace alate::graph
