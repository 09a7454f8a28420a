// Depthwise convolution of values with channels last: every channel has a kernel of its own.
#pragma once

#include <cstddef>

namespace alate::cpu {

/// A run of places that see all taps: out[p][c] = sum over taps of x[tap][p * x_step + c] * weights[tap][c], in the
/// taps' order.
struct DepthwiseRun {
  const float* const* x = nullptr;  // of the first place
  const float* const* weights = nullptr;
  std::size_t taps = 0, channels = 0;
  std::size_t places = 1, x_step = 0, out_step = 0;  // steps in floats
  float* out = nullptr;
};

}  // namespace alate::cpu
