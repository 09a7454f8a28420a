// Matrix products with AVX2 and FMA: tiles of 6 by 16, 12 of the 16 registers.
#include "backends/cpu/kernels/gemm_block.inl.h"

namespace alate::cpu {

void fill_gemm_avx2(Kernels& kernels);
void fill_gemm_avx2(Kernels& kernels) { HWY_NAMESPACE::fill_gemm<6, 2>(kernels); }

}  // namespace alate::cpu
