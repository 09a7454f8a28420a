#include "backends/cpu/kernels/dispatch/absent/absent.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"

namespace alate::cpu {

GemmKernel bf16_gemm_amx_bf16();
AttentionKernel bf16_attention_amx_bf16();

GemmKernel bf16_gemm_amx_bf16() { refuse_absent("amx_bf16"); }
AttentionKernel bf16_attention_amx_bf16() { refuse_absent("amx_bf16"); }

}  // namespace alate::cpu
