// Attention with bf16 products in AMX tile registers.
#include "backends/cpu/kernels/attention/attention_tiles.inl.h"

namespace alate::cpu {

AttentionKernel bf16_attention_amx_bf16();
AttentionKernel bf16_attention_amx_bf16() { return HWY_NAMESPACE::attention_kernel<HWY_NAMESPACE::TileProducts>(); }

}  // namespace alate::cpu
