// GEMM with NEON: tiles of 6 by 16, 24 of the 32 registers.
#include "backends/cpu/kernels/gemm/gemm_dots.inl.h"
#include "backends/cpu/kernels/gemm/multiply_adds.inl.h"

namespace alate::cpu {

void fill_gemm_neon(GemmKernels& kernels);
void fill_gemm_neon(GemmKernels& kernels) {
  HWY_NAMESPACE::fill_float_products<6, 4>(kernels);
  kernels.bf16 = HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::WidenedBf16Dot, 6, 4>();
  kernels.integers = HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::WidenedShortsDot, 6, 4>();
  HWY_NAMESPACE::fill_multiply_adds(kernels);
}

}  // namespace alate::cpu
