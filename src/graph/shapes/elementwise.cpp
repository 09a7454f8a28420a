#include "graph/shapes/rules.h"

namespace alate::graph {

std::vector<Shape> infer_leaf(const InferenceInput& input) { input.fail("is made by the builder alone"); }

std::vector<Shape> infer_elementwise(const InferenceInput& input) {
  for (const Shape& operand : input.operands)
    input.require(operand == input.operands[0], "operands must have one dtype and the same dims");
  return {input.operands[0]};
}

std::vector<Shape> infer_compare(const InferenceInput& input) {
  return {{DType::boolean, infer_elementwise(input)[0].dims}};
}

std::vector<Shape> infer_select(const InferenceInput& input) {
  const Shape& condition = input.operands[0];
  input.require(condition.dtype == DType::boolean, "operand 0 must be bool");
  input.require(input.operands[1] == input.operands[2], "operands 1 and 2 must have one dtype and the same dims");
  input.require(condition.rank() == 0 || condition.dims == input.operands[1].dims,
                "operand 0 must be a scalar or have the dims of the others");
  return {input.operands[1]};
}

std::vector<Shape> infer_convert(const InferenceInput& input) {
  const DType dtype = input.as<Convert>().dtype;
  input.require(contains(kAll, dtype), "cannot convert to this dtype");
  return {{dtype, input.operands[0].dims}};
}

std::vector<Shape> infer_like_first(const InferenceInput& input) {
  const auto rank = static_cast<std::int64_t>(input.operands[0].rank());
  if (const auto* axis = std::get_if<Axis>(&input.attributes))
    input.require(axis->axis >= 0 && axis->axis < rank, "axis is outside the operand's rank");
  if (input.op == Op::normalize) input.require(rank > 0, "needs a last axis");
  return {input.operands[0]};
}

std::vector<Shape> infer_norm(const InferenceInput& input) {
  const Shape& x = input.operands[0];
  input.require(x.rank() > 0 && x.dims.back().is_number() && x.dims.back() != Dim(0),
                "needs a last axis with a number above 0 as extent");
  const Shape row{x.dtype, {x.dims.back()}};
  input.require(input.operands[1] == row && input.operands[2] == row,
                "scale and shift must be one row of the last axis");
  return {x};
}

}  // namespace alate::graph
