// Sorting of lines by keys, and top-k of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "alate/tensor.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// The order of keys: bool, integers of 8 bits and more, and floats of 16 bits and more.
struct KeyOrder {
  DType dtype = DType::f32;
  bool descending = false;
  bool is_total = false;  // floats by IEEE 754's total order; otherwise -0 equals 0, and NaN is unordered
  bool or_equal = false;  // a key also comes before an equal one
};

/// One operand that is sorted along with the others; `in` and `out` do not overlap.
struct SortOperand {
  const void* in = nullptr;
  void* out = nullptr;
  std::size_t element_bytes = 0;
};

/// Sorts the lines along the middle axis of all operands [outer, length, inner], contiguous and row-major, by the keys.
/// The result is always that of a stable bottom-up merge sort, also where NaN keeps `order` from being an ordering.
struct SortArguments {
  KeyOrder order;
  const void* keys = nullptr;
  std::span<const SortOperand> operands;
  std::size_t outer = 0, length = 0, inner = 1;
  std::byte* scratch = nullptr;  // sort_scratch_bytes for each of the pool's workers
};
std::size_t sort_scratch_bytes(DType keys, std::size_t length);
void sort_lines(const SortArguments& arguments, base::ThreadPool& pool, std::size_t max_workers);

/// The k largest of each row, largest first by total order, ties in row order; and their indices.
struct TopKArguments {
  DType dtype = DType::f32;  // as for KeyOrder
  const void* x = nullptr;   // [rows, length]
  void* values = nullptr;    // [rows, k]
  std::int32_t* places = nullptr;
  std::size_t rows = 0, length = 0, k = 0;
  std::byte* scratch = nullptr;  // top_k_scratch_bytes for each of the pool's workers
};
std::size_t top_k_scratch_bytes(DType dtype, std::size_t k);
void top_k(const TopKArguments& arguments, base::ThreadPool& pool, std::size_t max_workers);

/// Sorts places by bottom-up merging, which terminates and keeps every place whatever `comes_before` returns. `merged`
/// is scratch of the same size.
template <typename Place, typename ComesBefore>
void merge_sort(std::span<Place> places, std::span<Place> merged, const ComesBefore& comes_before) {
  const std::size_t count = places.size();
  Place *from = places.data(), *to = merged.data();
  for (std::size_t run = 1; run < count; run *= 2) {
    for (std::size_t begin = 0; begin < count; begin += 2 * run) {
      const std::size_t middle = begin + run < count ? begin + run : count;
      const std::size_t end = begin + 2 * run < count ? begin + 2 * run : count;
      std::size_t left = begin, right = middle;
      for (std::size_t i = begin; i < end; ++i) {
        const bool takes_right = left == middle || (right < end && comes_before(from[right], from[left]));
        to[i] = from[takes_right ? right++ : left++];
      }
    }
    Place* const sorted = to;
    to = from;
    from = sorted;
  }
  if (from != places.data()) {
    for (std::size_t i = 0; i < count; ++i) places[i] = from[i];
  }
}

}  // namespace alate::cpu
