#include "backends/cpu/kernels/dispatch/absent/absent.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"

namespace alate::cpu {

BlockKernels block_kernels_avx2_vnni();
GemmKernel bytes_gemm_avx2_vnni();
AttentionKernel short_attention_avx2_vnni();

GemmKernel bytes_gemm_avx2_vnni() { refuse_absent("avx2_vnni"); }
AttentionKernel short_attention_avx2_vnni() { refuse_absent("avx2_vnni"); }
BlockKernels block_kernels_avx2_vnni() { refuse_absent("avx2_vnni"); }

}  // namespace alate::cpu
