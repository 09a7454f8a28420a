// Arithmetic on sizes that stops where a result does not fit.
#pragma once

#include <cstdint>

#include "alate/error.h"

namespace alate::graph {

/// Both throw resource_exhausted if the result does not fit in 64 bits.
inline std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    throw make_error(ErrorCode::resource_exhausted, "a size overflows 64 bits: ", a, " + ", b);
  return sum;
}
inline std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    throw make_error(ErrorCode::resource_exhausted, "a size overflows 64 bits: ", a, " * ", b);
  return product;
}

}  // namespace alate::graph
