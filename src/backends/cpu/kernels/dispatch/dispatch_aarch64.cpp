#include "backends/cpu/kernels/dispatch/dispatch.h"

namespace alate::cpu {

void fill_gemm_neon(GemmKernels& kernels);
GemmKernel bytes_gemm_neon_dotprod();
GemmKernel bytes_gemm_neon_i8mm();
void fill_vector_kernels(Kernels& kernels, bool with_extensions);

void fill_vector_kernels(Kernels& kernels, bool with_extensions) {
  fill_gemm_neon(kernels);
  if (with_extensions && base::uses_extension("i8mm"))
    kernels.integers = bytes_gemm_neon_i8mm();
  else if (with_extensions && base::uses_extension("asimddp"))
    kernels.integers = bytes_gemm_neon_dotprod();
  // The baseline is NEON.
  kernels.simd = simd_kernels_scalar();
}

}  // namespace alate::cpu
