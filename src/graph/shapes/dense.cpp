#include "graph/operands.h"
#include "graph/shapes/rules.h"

namespace alate::graph {

std::vector<Shape> infer_dense(const InferenceInput& input) {
  const Dense& dense = input.as<Dense>();
  input.require(input.operands.size() == operand_count<DenseOperands>(dense),
                "operands must be x and weight, then bias and residual as the attributes say");
  const auto at = places_of<DenseOperands>(dense);
  const Shape &x = input.operands[at.x], &weight = input.operands[at.weight];
  // With f32 x, a bf16 weight requests bf16 products, for which x is rounded; an f16 weight is only a storage format.
  const bool is_half = x.dtype == DType::f32 && (weight.dtype == DType::bf16 || weight.dtype == DType::f16);
  input.require(
      (x.dtype == weight.dtype || is_half) && x.rank() >= 1 && weight.rank() == 2 && weight.dims[1] == x.dims.back(),
      "operand 1, weight, must be [out, in] of operand 0's dtype (beside f32 also bf16 or f16), with its last "
      "axis as in");
  Shape result = x;
  result.dims.back() = weight.dims[0];
  if (at.bias)
    input.require(input.operands[*at.bias] == Shape{x.dtype, {weight.dims[0]}}, "operand 2, bias, must be [out]");
  if (at.residual)
    input.require(input.operands[*at.residual] == result, "the last operand, residual, must have the result's shape");
  return {result};
}

}  // namespace alate::graph
