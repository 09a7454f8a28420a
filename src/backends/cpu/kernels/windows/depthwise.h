// Depthwise convolution (one kernel per channel) of channels-last values.
#pragma once

#include <cstddef>

namespace alate::cpu {

/// A run of positions at which all taps lie within x: out[p][c] = sum over taps of x[tap][p * x_step + c] *
/// weights[tap][c], in the order of the taps.
struct DepthwiseRun {
  const float* const* x = nullptr;  // for the first position
  const float* const* weights = nullptr;
  std::size_t taps = 0, channels = 0;
  std::size_t places = 1, x_step = 0, out_step = 0;  // steps in floats
  float* out = nullptr;
};

}  // namespace alate::cpu
