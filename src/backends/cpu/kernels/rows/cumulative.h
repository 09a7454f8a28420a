// Cumulative sums, products and extremes along an axis.
#pragma once

#include <cstddef>
#include <cstdint>

#include "alate/tensor.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

enum class CumulativeOp : std::uint8_t { sum, product, max, min };

/// [outer, length, inner], contiguous and row-major, along the middle axis. Sums and products of floats are computed in
/// double and rounded when stored; integers wrap; for bool they are or and and.
struct CumulativeArguments {
  const void* x = nullptr;
  void* out = nullptr;
  std::size_t outer = 0, length = 0, inner = 1;
  bool reverse = false;    // from last to first
  bool exclusive = false;  // excludes the value at the position itself
  DType limits =
      DType::invalid;  // its lowest or highest value is the extreme of nothing; as wide as the dtype or narrower
};

/// sum and product for bool, integers of 8 bits and more, f32, f64 and complex; max and min for all of these except
/// bool and complex.
void cumulative(CumulativeOp op, DType dtype, const CumulativeArguments& arguments, base::ThreadPool& pool,
                std::size_t max_workers);

/// The index along the middle axis of the largest (or smallest) value, the first of equal ones; that of the first NaN
/// if there is one; 0 where the axis is empty. `dtype` is bool or one that cumulative takes for max and min. Indices
/// are integers of `place_bytes` bytes.
struct ArgExtremeArguments {
  const void* x = nullptr;
  void* out = nullptr;
  std::size_t outer = 0, length = 0, inner = 1;
  std::size_t place_bytes = 4;
  bool is_min = false;
};
void arg_extreme(DType dtype, const ArgExtremeArguments& arguments, base::ThreadPool& pool, std::size_t max_workers);

}  // namespace alate::cpu
