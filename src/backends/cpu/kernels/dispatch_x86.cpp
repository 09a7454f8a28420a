#include "backends/cpu/kernels/dispatch.h"

namespace alate::cpu {

void fill_gemm_avx2(Kernels& kernels);
void fill_gemm_avx512(Kernels& kernels);
void fill_vector_kernels(Kernels& kernels);

void fill_vector_kernels(Kernels& kernels) {
  if (kernels.set == base::InstructionSet::avx512) {
    fill_gemm_avx512(kernels);
    kernels.simd = simd_kernels_avx512();
  } else {
    fill_gemm_avx2(kernels);
    kernels.simd = simd_kernels_avx2();
  }
}

}  // namespace alate::cpu
