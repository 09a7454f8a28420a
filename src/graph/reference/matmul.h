// Dense matrix multiplication.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/reference/elementwise/complex_math.h"

namespace alate::graph {

struct MatmulSizes {
  std::int64_t rows, inner, columns;
};

/// Adds lhs [rows, inner] · rhs [inner, columns] to result [rows, columns]. Every element is summed in the order of
/// `inner`, one row of rhs at a time for sequential access. Number is double, std::uint64_t (wraps) or Complex.
template <typename Number>
void matmul(const MatmulSizes& sizes, const Number* lhs, const Number* rhs, Number* result) {
  for (std::int64_t row = 0; row < sizes.rows; ++row) {
    Number* const out = result + row * sizes.columns;
    for (std::int64_t i = 0; i < sizes.inner; ++i) {
      const Number factor = lhs[row * sizes.inner + i];
      const Number* const in = rhs + i * sizes.columns;
      for (std::int64_t column = 0; column < sizes.columns; ++column) out[column] += product_of(factor, in[column]);
    }
  }
}

}  // namespace alate::graph
