// The index vectors of gather and scatter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "alate/tensor.h"
#include "graph/attributes.h"

namespace alate::graph {

/// The vectors, concatenated in row-major order of the other axes. With `vector_dim` past the last axis they have one
/// entry each.
std::vector<std::int64_t> index_vectors(const Tensor& indices, std::int64_t vector_dim);

/// The position of an axis of the indices among their axes without `vector_dim`.
inline std::size_t batch_place(std::int64_t axis, std::int64_t vector_dim) {
  return static_cast<std::size_t>(axis < vector_dim ? axis : axis - 1);
}

inline bool has_axis(const Numbers& axes, std::size_t axis) {
  return std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != axes.end();
}

}  // namespace alate::graph
