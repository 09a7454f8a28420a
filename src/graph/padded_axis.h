// Elements of an axis that remain after padding, which may be negative.
#pragma once

#include <algorithm>
#include <cstdint>

namespace alate::graph {

/// The `count` elements from `first` on that remain, and the result index `to` of the first.
struct KeptElements {
  std::int64_t first, count, to;
};

/// `step` is interior padding + 1, `padded_extent` the result's.
inline KeptElements kept_elements(std::int64_t extent, std::int64_t low, std::int64_t step,
                                  std::int64_t padded_extent) {
  const std::int64_t first = low < 0 ? (-low - 1) / step + 1 : 0;
  const std::int64_t room = padded_extent - 1 - low;  // largest offset of an element from the axis's first
  if (room < 0) return {0, 0, 0};
  const std::int64_t last = std::min(extent - 1, room / step);
  return {first, std::max<std::int64_t>(0, last - first + 1), low + first * step};
}

}  // namespace alate::graph
