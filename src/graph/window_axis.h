// Sliding-window arithmetic along one axis, shared by convolutions, window reductions and select_and_scatter.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/attributes.h"

namespace alate::graph {

/// Entry `axis` of an attribute list that may be empty.
inline std::int64_t entry_or(const Numbers& list, std::size_t axis, std::int64_t otherwise) {
  return list.empty() ? otherwise : list[axis];
}

/// The operand gets base_dilation - 1 holes between its elements, then padding at both ends; windows of `window`
/// elements, window_dilation apart, slide over it with starts `stride` apart.
struct WindowAxis {
  std::int64_t window = 1, stride = 1, low = 0, high = 0, base_dilation = 1, window_dilation = 1;

  /// How many windows fit into an axis of this extent.
  std::int64_t count(std::int64_t extent) const {
    const std::int64_t padded = low + spread(extent, base_dilation) + high, seen = spread(window, window_dilation);
    return padded <= 0 || seen > padded ? 0 : (padded - seen) / stride + 1;
  }
  /// The operand index that entry `at` of window `place` reads; none for a hole or padding.
  std::optional<std::int64_t> source(std::int64_t place, std::int64_t at, std::int64_t extent) const {
    const std::int64_t position = place * stride + at * window_dilation - low;
    if (position < 0 || position % base_dilation != 0 || position / base_dilation >= extent) return std::nullopt;
    return position / base_dilation;
  }
  /// The span of `count` elements that are `dilation` apart.
  static std::int64_t spread(std::int64_t count, std::int64_t dilation) {
    return count == 0 ? 0 : (count - 1) * dilation + 1;
  }
};

inline WindowAxis window_axis(const Window& window, std::size_t axis) {
  return {.window = window.window_dimensions[axis],
          .stride = entry_or(window.strides, axis, 1),
          .low = entry_or(window.padding_low, axis, 0),
          .high = entry_or(window.padding_high, axis, 0),
          .base_dilation = entry_or(window.base_dilations, axis, 1),
          .window_dilation = entry_or(window.window_dilations, axis, 1)};
}
inline WindowAxis window_axis(const SelectWindow& window, std::size_t axis) {
  return {.window = window.window_dimensions[axis],
          .stride = entry_or(window.strides, axis, 1),
          .low = entry_or(window.padding_low, axis, 0),
          .high = entry_or(window.padding_high, axis, 0),
          .base_dilation = 1,
          .window_dilation = 1};
}
/// `axis` counts spatial axes; `window` is the kernel's extent there.
inline WindowAxis window_axis(const Convolution& convolution, std::size_t axis, std::int64_t window) {
  return {.window = window,
          .stride = entry_or(convolution.strides, axis, 1),
          .low = entry_or(convolution.padding_low, axis, 0),
          .high = entry_or(convolution.padding_high, axis, 0),
          .base_dilation = entry_or(convolution.lhs_dilation, axis, 1),
          .window_dilation = entry_or(convolution.rhs_dilation, axis, 1)};
}

}  // namespace alate::graph
