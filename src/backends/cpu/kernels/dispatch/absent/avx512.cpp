#include "backends/cpu/kernels/dispatch/absent/absent.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"

namespace alate::cpu {

BlockKernels block_kernels_avx512();
void fill_gemm_avx512(GemmKernels& kernels);
AttentionKernel short_attention_avx512();

void fill_gemm_avx512(GemmKernels& /*kernels*/) { refuse_absent("avx512"); }
AttentionKernel short_attention_avx512() { refuse_absent("avx512"); }
SimdKernels simd_kernels_avx512() { refuse_absent("avx512"); }
BlockKernels block_kernels_avx512() { refuse_absent("avx512"); }

}  // namespace alate::cpu
