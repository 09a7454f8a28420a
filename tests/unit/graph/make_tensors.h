// Tensors of any dtype from doubles, and back.
#pragma once

#include <vector>

#include "graph/reference/call.h"
#include "graph/reference/values.h"
#include "tests/unit/graph/run_op.h"

namespace alate::graph {

/// Each value rounded to the dtype, which is not a complex one; a row where no extents are given.
inline Tensor stored(DType dtype, const std::vector<double>& values, std::vector<std::int64_t> extents = {-1}) {
  if (extents == std::vector<std::int64_t>{-1}) extents = {static_cast<std::int64_t>(values.size())};
  return store_floats(detail::shape_of(dtype, extents), values);
}
inline Tensor stored_complex(DType dtype, const std::vector<Complex>& values) {
  return store_complex({dtype, {static_cast<std::int64_t>(values.size())}}, values);
}

/// The values of a tensor of any dtype but a complex one.
inline std::vector<double> loaded(const Tensor& tensor) { return load_floats(tensor); }

}  // namespace alate::graph
