// Shape rules of normalizations with one scale per index of an axis.
#include "graph/shapes/rules.h"

namespace alate::graph {
namespace {

Dim axis_extent(const InferenceInput& input, std::int64_t axis) {
  const Shape& x = input.operands[0];
  input.require(axis >= 0 && static_cast<std::uint64_t>(axis) < x.rank(), "axis is outside operand 0's rank");
  return x.dims[static_cast<std::size_t>(axis)];
}

// The shape of operands 1 to `last`, which hold one number per index of the axis.
Shape require_rows(const InferenceInput& input, std::int64_t axis, std::size_t last) {
  const Shape row{input.operands[0].dtype, {axis_extent(input, axis)}};
  for (std::size_t i = 1; i <= last; ++i) {
    input.require(input.operands[i] == row, "operand " + std::to_string(i) + " must be " + input.dims.to_string(row) +
                                                ": one number for each place of the axis");
  }
  return row;
}

}  // namespace

std::vector<Shape> infer_batch_norm_inference(const InferenceInput& input) {
  require_rows(input, input.as<BatchNorm>().axis, 4);
  return {input.operands[0]};
}

std::vector<Shape> infer_batch_norm_training(const InferenceInput& input) {
  const Shape row = require_rows(input, input.as<BatchNorm>().axis, 2);
  return {input.operands[0], row, row};
}

std::vector<Shape> infer_batch_norm_gradient(const InferenceInput& input) {
  const Shape row = require_rows(input, input.as<BatchNorm>().axis, 3);
  input.require(input.operands[4] == input.operands[0], "operand 4 must have operand 0's shape");
  return {input.operands[0], row, row};
}

std::vector<Shape> infer_rms_norm(const InferenceInput& input) {
  const Shape& x = input.operands[0];
  input.require(x.rank() > 0 && x.dims.back().is_number() && x.dims.back() != Dim(0),
                "needs a last axis with a number above 0 as extent");
  require_rows(input, static_cast<std::int64_t>(x.rank()) - 1, 1);
  return {x};
}

std::vector<Shape> infer_group_norm(const InferenceInput& input) {
  const GroupNorm& norm = input.as<GroupNorm>();
  const Dim channels = axis_extent(input, norm.axis);
  input.require(norm.axis > 0, "axis must not be 0, which is the batch");
  input.require(norm.groups >= 1 && channels.is_number() && channels.number() % norm.groups == 0,
                "channels must be a number and a multiple of groups");
  require_rows(input, norm.axis, 2);
  return {input.operands[0]};
}

}  // namespace alate::graph
