#include "graph/op.h"
#include "graph/operands.h"
#include "graph/shapes/rules.h"

namespace alate::graph {

std::vector<Shape> infer_rope(const InferenceInput& input) {
  const Rope& rope = input.as<Rope>();
  const Shape& x = input.operands[0];
  input.require(input.operands.size() == operand_count<RopeOperands>(rope),
                rope.has_positions ? "operands must be x, positions, cosines and sines"
                                   : "operands must be x, cosines and sines");
  const auto at = places_of<RopeOperands>(rope);
  input.require(x.rank() >= 2 && x.dims.back().is_number(), "x must be [..., heads, width] with a number as width");
  const Dims leading(x.dims.begin(), x.dims.end() - 2);
  const Shape &cosines = input.operands[at.cosines], &sines = input.operands[at.sines];
  input.require(cosines == sines, "cosines and sines must have one shape");
  input.require(cosines.dtype == x.dtype || cosines.dtype == DType::f32, "tables must have x's dtype or f32");
  if (at.positions) {
    const Shape& positions = input.operands[*at.positions];
    input.require(contains(kInts, positions.dtype) && positions.dims == leading,
                  "positions must be integers of x's axes before heads");
    input.require(cosines.rank() == 2 && cosines.dims[0] != Dim(0), "tables must be [1 or more places, half width]");
  } else {
    input.require(cosines.rank() == leading.size() + 1 && Dims(cosines.dims.begin(), cosines.dims.end() - 1) == leading,
                  "cosines and sines must be [..., half width] with x's axes before heads");
  }
  const Dim half = cosines.dims.back();
  input.require(half.is_number() && half.number() <= x.dims.back().number() / 2,
                "the last axis of cosines must be a number, at most half of x's width");
  return {x};
}

}  // namespace alate::graph
