// Strided copies of elements of any dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "alate/tensor.h"

namespace alate::graph {

/// Strides in elements, outermost axis first.
using Strides = std::vector<std::int64_t>;

/// Strides of a dense row-major layout.
Strides row_major(std::span<const std::int64_t> extents);

/// Copies the element at Σ index·from_strides to Σ index·to_strides for every index below `extents`; strides count
/// elements of `element_size` bytes. Runs that are dense on both sides are copied at once.
void copy_strided(std::byte* to, std::span<const std::int64_t> to_strides, const std::byte* from,
                  std::span<const std::int64_t> from_strides, std::span<const std::int64_t> extents,
                  std::size_t element_size);

/// A dense tensor of `shape` gathered from `x` by `from_strides`, starting at element `first`.
Tensor picked(const Shape& shape, const Tensor& x, std::int64_t first, const Strides& from_strides);

/// The tensor, of a dtype of whole bytes, with its axes in another order: axis i of the result is axis order[i].
Tensor transposed(const Tensor& x, std::span<const std::int64_t> order);

}  // namespace alate::graph
