// Whole-tensor computations in the compute type of a dtype.
#pragma once

#include "graph/reference/numbers.h"

namespace alate::graph {

/// Applies `function` to vectors of the tensors' elements; it returns a vector of the result's. Elements are Complex,
/// double, or words that wrap (bool is 0 or 1, and nonzero is stored as true: a sum is an or, a product an and). For
/// sums and products.
template <typename Function, typename... Tensors>
Tensor computed_in_ring(const Shape& shape, Function function, const Tensor& first, const Tensors&... others) {
  if (is_complex(first.dtype())) return store_complex(shape, function(load_complex(first), load_complex(others)...));
  if (is_float(first.dtype())) return store_floats(shape, function(load_floats(first), load_floats(others)...));
  return store_words(shape, function(load_words(first), load_words(others)...));
}

/// The same for ordered types: double, std::int64_t or std::uint64_t (bool too).
template <typename Function, typename... Tensors>
Tensor computed_in_order(const Shape& shape, Function function, const Tensor& first, const Tensors&... others) {
  if (is_float(first.dtype())) return store_floats(shape, function(load_floats(first), load_floats(others)...));
  if (!is_signed_integer(first.dtype())) return store_words(shape, function(load_words(first), load_words(others)...));
  using Signed = std::int64_t;
  return store_numbers<Signed>(shape, function(load_numbers<Signed>(first), load_numbers<Signed>(others)...));
}

}  // namespace alate::graph
