// The activation functions that a matrix product can apply to its result before storing it.
#pragma once

#include <cstdint>

namespace alate::cpu {

enum class Activation : std::uint8_t {
  none,
  relu,       // max(x, 0)
  gelu_erf,   // x/2 (1 + erf(x / sqrt 2)): Hendrycks and Gimpel, arXiv:1606.08415
  gelu_tanh,  // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): the same paper's approximation
  silu,       // x logistic(x)
  tanh,
  sigmoid,     // 1 / (1 + exp(-x))
  quick_gelu,  // x logistic(1.702 x)
};

}  // namespace alate::cpu
