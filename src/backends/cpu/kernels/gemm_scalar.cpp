// Matrix products for any processor of the architecture, in four-float vectors: tiles of 4 by 8.
#include "backends/cpu/kernels/gemm_block.inl.h"

namespace alate::cpu {

void fill_gemm_scalar(Kernels& kernels);
void fill_gemm_scalar(Kernels& kernels) { HWY_NAMESPACE::fill_gemm<4, 2>(kernels); }

}  // namespace alate::cpu
