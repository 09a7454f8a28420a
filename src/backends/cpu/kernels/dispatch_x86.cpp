#include <string_view>

#include "backends/cpu/kernels/dispatch.h"

namespace alate::cpu {

void fill_gemm_avx2(Kernels& kernels);
void fill_gemm_avx512(Kernels& kernels);
GemmKernel bytes_gemm_avx2_vnni();
GemmKernel bytes_gemm_avx512_vnni();
GemmKernel bf16_gemm_avx512_bf16();
void fill_vector_kernels(Kernels& kernels, bool with_extensions);

void fill_vector_kernels(Kernels& kernels, bool with_extensions) {
  const auto has = [&](std::string_view feature) { return with_extensions && base::cpu_facts().has(feature); };
  if (kernels.set == base::InstructionSet::avx512) {
    fill_gemm_avx512(kernels);
    if (has("avx512_vnni")) kernels.integers = bytes_gemm_avx512_vnni();
    if (has("avx512_bf16")) kernels.bf16 = bf16_gemm_avx512_bf16();
    kernels.simd = simd_kernels_avx512();
  } else {
    fill_gemm_avx2(kernels);
    if (has("avx_vnni")) kernels.integers = bytes_gemm_avx2_vnni();
    kernels.simd = simd_kernels_avx2();
  }
}

}  // namespace alate::cpu
