// The kernels over windows and transforms, of an instruction set's table (dispatch.h).
#pragma once

#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "backends/cpu/kernels/windows/depthwise.h"
#include "backends/cpu/kernels/windows/fourier.h"
#include "backends/cpu/kernels/windows/pooling.h"
#include "backends/cpu/kernels/windows/window.h"

namespace alate::cpu {

/// Each is documented at the function of the same name in its own header, which adds threading.
struct WindowKernels {
  void (*pool_tokens)(Pooling, const PoolArguments&) = nullptr;
  WindowLoop (*window_loop)(TileOp, DType) = nullptr;
  void (*depthwise_run)(const DepthwiseRun&) = nullptr;
  void (*fourier_f32)(const FourierLanes<float>&) = nullptr;
  void (*fourier_f64)(const FourierLanes<double>&) = nullptr;
};

const WindowKernels& window_kernels(const Kernels& set = kernels());

}  // namespace alate::cpu
