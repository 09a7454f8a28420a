#include "graph/shapes/axes.h"
#include "graph/shapes/rules.h"

namespace alate::graph {

std::vector<Shape> infer_leaf(const InferenceInput& input) { input.fail("is made by the builder alone"); }

// All operands have one shape, which is the result's.
std::vector<Shape> infer_elementwise(const InferenceInput& input) {
  for (std::size_t i = 1; i < input.operands.size(); ++i) {
    input.require(input.operands[i] == input.operands[0],
                  [&] { return "operand " + std::to_string(i) + " must have the dtype and the dims of operand 0"; });
  }
  return {input.operands[0]};
}

// As elementwise, but the result is bool.
std::vector<Shape> infer_compare(const InferenceInput& input) {
  return {{DType::boolean, infer_elementwise(input)[0].dims}};
}

// As elementwise, but a complex dtype gives its parts' dtype.
std::vector<Shape> infer_real_part(const InferenceInput& input) {
  Shape result = infer_elementwise(input)[0];
  if (is_complex(result.dtype)) result.dtype = result.dtype == DType::c64 ? DType::f32 : DType::f64;
  return {result};
}

std::vector<Shape> infer_complex(const InferenceInput& input) {
  const Shape part = infer_elementwise(input)[0];
  return {{part.dtype == DType::f32 ? DType::c64 : DType::c128, part.dims}};
}

std::vector<Shape> infer_clamp(const InferenceInput& input) {
  const Shape& x = input.operands[1];
  for (const std::size_t place : {std::size_t{0}, std::size_t{2}}) {
    const Shape& bound = input.operands[place];
    input.require(
        bound.dtype == x.dtype && (bound.rank() == 0 || bound.dims == x.dims),
        "operand " + std::to_string(place) + " must have the dtype of operand 1 and be a scalar or have its dims");
  }
  return {x};
}

// https://openxla.org/stablehlo/spec#bitcast_convert
std::vector<Shape> infer_bitcast(const InferenceInput& input) {
  const Shape& x = input.operands[0];
  const DType dtype = input.as<Convert>().dtype;
  input.require(contains(op_info(input.op).dtypes, dtype), "cannot reinterpret bits as this dtype");
  input.require(is_complex(dtype) == is_complex(x.dtype), "complex values have the bits of complex values alone");
  const std::size_t from = bits_of(x.dtype), to = bits_of(dtype);
  Shape result{dtype, x.dims};
  if (to < from) {
    result.dims.emplace_back(static_cast<std::int64_t>(from / to));
    // A new axis can make the element count overflow.
    if (result.is_static()) result.element_count();
  } else if (to > from) {
    const auto ratio = static_cast<std::int64_t>(to / from);
    input.require(x.rank() > 0 && x.dims.back() == Dim(ratio),
                  "the last axis must be the " + std::to_string(ratio) + " elements that make one of the result");
    result.dims.pop_back();
  }
  return {result};
}

std::vector<Shape> infer_select(const InferenceInput& input) {
  const Shape& condition = input.operands[0];
  input.require(condition.dtype == DType::boolean, "operand 0 must be bool");
  input.require(contains(op_info(input.op).dtypes, input.operands[1].dtype),
                "operand 1 has dtype " + std::string(alate::to_string(input.operands[1].dtype)) +
                    ", which this op does not take");
  input.require(input.operands[1] == input.operands[2], "operand 2 must have the dtype and the dims of operand 1");
  input.require(condition.rank() == 0 || condition.dims == input.operands[1].dims,
                "operand 0 must be a scalar or have the dims of operand 1");
  return {input.operands[1]};
}

std::vector<Shape> infer_convert(const InferenceInput& input) {
  const DType dtype = input.as<Convert>().dtype;
  input.require(contains(kAny, dtype), "cannot convert to " + std::string(alate::to_string(dtype)));
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
