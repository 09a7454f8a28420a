#include "backends/cpu/kernels/dispatch/absent/absent.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"

namespace alate::cpu {

GemmKernel bf16_gemm_avx512_bf16();

GemmKernel bf16_gemm_avx512_bf16() { refuse_absent("avx512_bf16"); }

}  // namespace alate::cpu
