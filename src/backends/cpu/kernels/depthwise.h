// Depthwise convolution of values with channels last: every channel has a kernel of its own.
#pragma once

#include <cstddef>

namespace alate::cpu {

/// One place of the result: out[c] = sum over taps of x[tap][c] * weights[tap][c], in the taps' order.
struct DepthwisePoint {
  const float* const* x = nullptr;
  const float* const* weights = nullptr;
  std::size_t taps = 0, channels = 0;
  float* out = nullptr;
};

}  // namespace alate::cpu
