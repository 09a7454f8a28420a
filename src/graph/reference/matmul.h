// Dense matrix multiplication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "alate/error.h"
#include "base/checked_by_caller.h"
#include "graph/reference/elementwise/complex_math.h"

namespace alate::graph {

struct MatmulSizes {
  std::int64_t rows, inner, columns;
};

/// Adds factor · in to out, each of `count` elements.
template <typename Number>
ALATE_CHECKED_BY_CALLER void add_scaled(Number factor, const Number* in, Number* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_arithmetic_v<Number>)
      out[i] += factor * in[i];
    else
      out[i] += product_of(factor, in[i]);
  }
}

/// Adds lhs [rows, inner] · rhs [inner, columns] to result [rows, columns]. Every element is summed in the order of
/// `inner`, one row of rhs at a time for sequential access. Number is double, std::uint64_t (wraps) or Complex.
template <typename Number>
void matmul(const MatmulSizes& sizes, std::span<const Number> lhs, std::span<const Number> rhs,
            std::span<Number> result) {
  const auto rows = static_cast<std::size_t>(sizes.rows), inner = static_cast<std::size_t>(sizes.inner),
             columns = static_cast<std::size_t>(sizes.columns);
  if (lhs.size() != rows * inner || rhs.size() != inner * columns || result.size() != rows * columns)
    throw make_error(ErrorCode::internal, "operands of a matrix product have other sizes than their shapes say");
  for (std::size_t row = 0; row < rows; ++row) {
    Number* const out = result.data() + row * columns;
    for (std::size_t i = 0; i < inner; ++i) add_scaled(lhs[row * inner + i], rhs.data() + i * columns, out, columns);
  }
}
/// The same for vectors.
template <typename Number>
void matmul(const MatmulSizes& sizes, const std::vector<Number>& lhs, const std::vector<Number>& rhs,
            std::vector<Number>& result) {
  matmul<Number>(sizes, std::span(lhs), std::span(rhs), std::span(result));
}

}  // namespace alate::graph
