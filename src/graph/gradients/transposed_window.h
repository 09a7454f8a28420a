// Windows that go the other way: from what windows gave to what they saw.
#pragma once

#include "graph/window_axis.h"

namespace alate::graph {

/// Along an axis of extent `x` over which `window` gave `results`: a window over the results, whose distances are the
/// other's strides, which gives for each element of x the (reversed) entries of the windows that saw it. The extents
/// are numbers, or one named dim, over which shape inference allows no stride and no dilation.
inline WindowAxis transposed_window(const WindowAxis& window, Dim x, Dim results) {
  const std::int64_t seen = WindowAxis::spread(window.window, window.window_dilation);
  const std::int64_t length = x.is_number() ? WindowAxis::spread(x.number(), window.base_dilation) : 0;
  const std::int64_t given = results.is_number() ? WindowAxis::spread(results.number(), window.stride) : 0;
  WindowAxis back = window;
  back.low = seen - 1 - window.low;
  back.high = length + seen - 1 - given - back.low;
  back.stride = window.base_dilation;
  back.base_dilation = window.stride;
  return back;
}

}  // namespace alate::graph
