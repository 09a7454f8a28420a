// Elements combined into others at places that need not be in order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "alate/tensor.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

enum class ScatterOp : std::uint8_t { set, sum, max, min };

/// `length` elements of the updates from `from` on that go to as many of the result from `to` on.
struct ScatterRun {
  std::int64_t to = 0, from = 0, length = 0;
};

struct ScatterArguments {
  const ScatterRun* runs = nullptr;
  std::size_t count = 0;
  const void* updates = nullptr;
  void* out = nullptr;  // holds what the updates are combined into
  std::size_t out_count = 0, update_count = 0;
};

/// Applies the runs in their order: set for any dtype of whole bytes, sum for bool (or), integers of 8 bits and more
/// (which wrap), f32, f64 and complex, max and min for these integers, f32 and f64 (NaN when either is NaN, -0 below
/// 0). Each worker takes part of the result, so that the order at every element is the runs'.
void scatter(ScatterOp op, DType dtype, const ScatterArguments& arguments, base::ThreadPool& pool,
             std::size_t max_workers);

}  // namespace alate::cpu
