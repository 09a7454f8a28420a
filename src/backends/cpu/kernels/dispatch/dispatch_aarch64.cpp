#include "backends/cpu/kernels/dispatch/dispatch.h"

namespace alate::cpu {

void fill_gemm_neon(GemmKernels& kernels);
GemmKernel bytes_gemm_neon_dotprod();
GemmKernel bytes_gemm_neon_i8mm();
BlockKernels block_kernels_scalar();
BlockKernels block_kernels_neon_dotprod();
void fill_vector_kernels(Kernels& kernels, bool with_extensions);

void fill_vector_kernels(Kernels& kernels, bool with_extensions) {
  fill_gemm_neon(kernels);
  if (with_extensions && base::uses_extension("i8mm"))
    kernels.integers = bytes_gemm_neon_i8mm();
  else if (with_extensions && base::uses_extension("asimddp"))
    kernels.integers = bytes_gemm_neon_dotprod();
  // The baseline is NEON.
  kernels.blocks =
      with_extensions && base::uses_extension("asimddp") ? block_kernels_neon_dotprod() : block_kernels_scalar();
  kernels.simd = simd_kernels_scalar();
}

}  // namespace alate::cpu
