// Transposed windows, which map gradients of window results back to the operand.
#pragma once

#include "graph/window_axis.h"

namespace alate::graph {

/// For `window` over an axis of extent `x` with `results` results: the window over the results, with stride and
/// dilation swapped, whose entries (in reverse) at each element of x are the windows that read it. The extents are
/// numbers, or one named dim, for which shape inference allows no stride or dilation.
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
