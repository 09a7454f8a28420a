#include "backends/cpu/kernels/dispatch/absent/absent.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"

namespace alate::cpu {

BlockKernels block_kernels_avx2();
void fill_gemm_avx2(GemmKernels& kernels);
AttentionKernel short_attention_avx2();

void fill_gemm_avx2(GemmKernels& /*kernels*/) { refuse_absent("avx2"); }
AttentionKernel short_attention_avx2() { refuse_absent("avx2"); }
SimdKernels simd_kernels_avx2() { refuse_absent("avx2"); }
BlockKernels block_kernels_avx2() { refuse_absent("avx2"); }

}  // namespace alate::cpu
