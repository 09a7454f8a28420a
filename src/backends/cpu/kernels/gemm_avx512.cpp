// Matrix products with AVX-512: tiles of 14 by 32, 28 of the 32 registers.
#include "backends/cpu/kernels/gemm_block.inl.h"

namespace alate::cpu {

void fill_gemm_avx512(Kernels& kernels);
void fill_gemm_avx512(Kernels& kernels) { HWY_NAMESPACE::fill_gemm<14, 2>(kernels); }

}  // namespace alate::cpu
