// Scatter: combines updates into elements at positions in any order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "alate/tensor.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

enum class ScatterOp : std::uint8_t { set, sum, max, min };

/// `length` elements of the updates, starting at `from`, that go to the result starting at `to`.
struct ScatterRun {
  std::int64_t to = 0, from = 0, length = 0;
};

struct ScatterArguments {
  const ScatterRun* runs = nullptr;
  std::size_t count = 0;
  const void* updates = nullptr;
  void* out = nullptr;  // in: the values that the updates are combined with; out: the result
  std::size_t out_count = 0, update_count = 0;
};

/// Applies the runs in order: set for any dtype of whole bytes; sum for bool (or), integers of 8 bits and more (which
/// wrap), f32, f64 and complex; max and min for these integers, f32 and f64 (NaN when either is NaN, -0 below 0). Each
/// worker owns part of the result, so that every element sees the runs in order.
void scatter(ScatterOp op, DType dtype, const ScatterArguments& arguments, base::ThreadPool& pool,
             std::size_t max_workers);

}  // namespace alate::cpu
