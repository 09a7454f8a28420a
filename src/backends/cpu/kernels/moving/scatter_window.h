// The gradient of max pooling: adds each window's value to the element that the window selects.
#pragma once

#include <cstddef>
#include <cstdint>

#include "alate/tensor.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

struct SelectAxis {
  std::size_t extent = 1, count = 1, window = 1;
  std::int64_t stride = 1, low = 0;
};

constexpr std::size_t kMostSelectAxes = 16;

/// x and out are [outer, extent..., inner], source is [outer, count..., inner]. Each window selects the first position
/// of its maximum (or minimum) in x; out is the sum of the sources of the windows that select an element, 0 elsewhere.
struct SelectAndScatter {
  const void *x = nullptr, *source = nullptr;
  void* out = nullptr;
  std::size_t outer = 1, inner = 1;
  SelectAxis axes[kMostSelectAxes];
  std::size_t rank = 0;
  bool is_max = true;
};

/// `dtype`: integers of 8 to 64 bits, f32, f64.
void select_and_scatter(DType dtype, const SelectAndScatter& arguments, base::ThreadPool& pool,
                        std::size_t max_workers);

}  // namespace alate::cpu
