// bf16 GEMM in AMX tile registers.
#include "backends/cpu/kernels/gemm/amx_tiles.inl.h"

namespace alate::cpu {

GemmKernel bf16_gemm_amx_bf16();
GemmKernel bf16_gemm_amx_bf16() {
  return HWY_NAMESPACE::matrix_tiles_kernel<HWY_NAMESPACE::Bf16Tiles, WordKind::bf16>();
}

}  // namespace alate::cpu
