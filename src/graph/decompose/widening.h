// Widening of f16 and bf16, which decompositions compute in f32.
#pragma once

#include "graph/builder.h"

namespace alate::graph {

inline bool is_narrow(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

/// The value in the dtype that a decomposition computes in.
inline Value widen(Builder& b, Value x) {
  return is_narrow(b.shape(x).dtype) ? b.convert({x}, {.dtype = DType::f32}) : x;
}

/// The result back in the dtype of the op's operand.
inline Value narrow(Builder& b, Value x, DType dtype) {
  return b.shape(x).dtype == dtype ? x : b.convert({x}, {.dtype = dtype});
}

}  // namespace alate::graph
