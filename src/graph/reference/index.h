// Iteration over all indices of a tensor.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace alate::graph {

using Place = std::vector<std::int64_t>;  // one index per axis

/// Calls `visit` with every index below `extents`, the last axis fastest; once for no axes.
template <typename Visit>
void for_each_index(std::span<const std::int64_t> extents, Visit visit) {
  for (const std::int64_t extent : extents) {
    if (extent == 0) return;
  }
  Place place(extents.size(), 0);
  while (true) {
    visit(std::as_const(place));
    std::size_t axis = extents.size();
    while (axis > 0 && ++place[axis - 1] == extents[axis - 1]) place[--axis] = 0;
    if (axis == 0) return;
  }
}

/// The offset of an index in a row-major tensor.
inline std::size_t offset_of(std::span<const std::int64_t> place, std::span<const std::int64_t> extents) {
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < place.size(); ++axis) offset = offset * extents[axis] + place[axis];
  return static_cast<std::size_t>(offset);
}

}  // namespace alate::graph
