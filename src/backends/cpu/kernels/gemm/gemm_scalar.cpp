// GEMM for any CPU of the architecture, in four-float vectors: tiles of 4 by 8.
#include "backends/cpu/kernels/gemm/gemm_dots.inl.h"
#include "backends/cpu/kernels/gemm/multiply_adds.inl.h"

namespace alate::cpu {

void fill_gemm_scalar(GemmKernels& kernels);
void fill_gemm_scalar(GemmKernels& kernels) {
  HWY_NAMESPACE::fill_float_products<4, 2>(kernels);
  kernels.bf16 = HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::WidenedBf16Dot, 4, 2>();
  kernels.integers = HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::WidenedShortsDot, 4, 2>();
  HWY_NAMESPACE::fill_multiply_adds(kernels);
}

}  // namespace alate::cpu
