// The element-wise kernels of an instruction set's table (dispatch.h).
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/elementwise/activation.h"
#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/kernels/elementwise/random_bits.h"
#include "backends/cpu/kernels/elementwise/tile.h"
#include "backends/cpu/kernels/vectors/kernel_set.h"

namespace alate::cpu {

/// Each is documented at the function of the same name in its own header, which adds threading.
struct ElementwiseKernels {
  void (*unary)(UnaryOp, const float* x, float* y, std::size_t n) = nullptr;
  void (*apply_activation)(Activation, float* x, std::size_t n) = nullptr;
  TileKernel (*tile_loop)(TileOp, DType, std::size_t element_bytes) = nullptr;
  ThreefryWords threefry_words = nullptr;
  PhiloxWords philox_words = nullptr;
};

const ElementwiseKernels& elementwise_kernels(const Kernels& set = kernels());

}  // namespace alate::cpu
