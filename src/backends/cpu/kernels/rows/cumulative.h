// Running sums, products and extremes along an axis.
#pragma once

#include <cstddef>
#include <cstdint>

#include "alate/tensor.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

enum class CumulativeOp : std::uint8_t { sum, product, max, min };

/// [outer, length, inner], contiguous and row-major, along the middle axis. Sums and products of floats are computed in
/// double and rounded where they are stored; integers wrap; those of bool are or and and.
struct CumulativeArguments {
  const void* x = nullptr;
  void* out = nullptr;
  std::size_t outer = 0, length = 0, inner = 1;
  bool reverse = false;           // from the last place to the first
  bool exclusive = false;         // without the value at the place itself
  DType limits = DType::invalid;  // whose lowest or highest value extremes of nothing are; one as wide or narrower
};

/// sum and product for bool, integers of 8 bits and more, f32, f64 and complex; max and min for all of these but bool
/// and complex.
void cumulative(CumulativeOp op, DType dtype, const CumulativeArguments& arguments, base::ThreadPool& pool,
                std::size_t max_workers);

/// The place along the middle axis of the largest (or smallest) value, the first of several; the first NaN where there
/// is one; 0 where the axis is empty. `dtype` is bool or an ordered one of cumulative. Places are integers of
/// `place_bytes`.
struct ArgExtremeArguments {
  const void* x = nullptr;
  void* out = nullptr;
  std::size_t outer = 0, length = 0, inner = 1;
  std::size_t place_bytes = 4;
  bool is_min = false;
};
void arg_extreme(DType dtype, const ArgExtremeArguments& arguments, base::ThreadPool& pool, std::size_t max_workers);

}  // namespace alate::cpu
