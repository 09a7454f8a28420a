#include "backends/cpu/kernels/dispatch/absent/absent.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"

namespace alate::cpu {

BlockKernels block_kernels_avx512_vnni();
GemmKernel bytes_gemm_avx512_vnni();
AttentionKernel short_attention_avx512_vnni();

GemmKernel bytes_gemm_avx512_vnni() { refuse_absent("avx512_vnni"); }
AttentionKernel short_attention_avx512_vnni() { refuse_absent("avx512_vnni"); }
BlockKernels block_kernels_avx512_vnni() { refuse_absent("avx512_vnni"); }

}  // namespace alate::cpu
