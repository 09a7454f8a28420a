#include "graph/shapes/axes.h"
#include "graph/shapes/rules.h"

namespace alate::graph {

std::vector<Shape> infer_leaf(const InferenceInput& input) { input.fail("is made by the builder alone"); }

std::vector<Shape> infer_elementwise(const InferenceInput& input) {
  for (std::size_t i = 1; i < input.operands.size(); ++i) {
    input.require(input.operands[i] == input.operands[0],
                  [&] { return "operand " + std::to_string(i) + " must have the dtype and the dims of operand 0"; });
  }
  return {input.operands[0]};
}

std::vector<Shape> infer_compare(const InferenceInput& input) {
  return {{DType::boolean, infer_elementwise(input)[0].dims}};
}

std::vector<Shape> infer_select(const InferenceInput& input) {
  const Shape& condition = input.operands[0];
  input.require(condition.dtype == DType::boolean, "operand 0 must be bool");
  input.require(input.operands[1] == input.operands[2], "operand 2 must have the dtype and the dims of operand 1");
  input.require(condition.rank() == 0 || condition.dims == input.operands[1].dims,
                "operand 0 must be a scalar or have the dims of operand 1");
  return {input.operands[1]};
}

std::vector<Shape> infer_convert(const InferenceInput& input) {
  const DType dtype = input.as<Convert>().dtype;
  input.require(contains(kAll, dtype), "cannot convert to " + std::string(alate::to_string(dtype)));
  return {{dtype, input.operands[0].dims}};
}

std::vector<Shape> infer_like_first(const InferenceInput& input) {
  if (const auto* axis = std::get_if<Axis>(&input.attributes)) require_axis(input, axis->axis, 0, "axis");
  if (input.op == Op::normalize) input.require(input.operands[0].rank() > 0, "operand 0 needs a last axis");
  return {input.operands[0]};
}

std::vector<Shape> infer_norm(const InferenceInput& input) {
  const Shape& x = input.operands[0];
  input.require(x.rank() > 0 && x.dims.back().is_number() && x.dims.back() != Dim(0),
                "operand 0 needs a last axis with a number above 0 as extent");
  const Shape row{x.dtype, {x.dims.back()}};
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    input.require(input.operands[i] == row, [&] {
      return "operand " + std::to_string(i) + ", " + (i == 1 ? "scale" : "shift") +
             ", must be one row of the last axis: " + input.dims.to_string(row);
    });
  }
  return {x};
}

}  // namespace alate::graph
