// Products of bf16 with the tile registers of AMX.
#include "backends/cpu/kernels/amx_tiles.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

struct Bf16Tiles : AmxTiles {
  // For each register, the products of words' first values and of their second ones are two sums, which are then added.
  template <int kSums, int kRows, int kColumns>
  HWY_INLINE void multiply() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kRows), "i"(kColumns));
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

GemmKernel bf16_gemm_amx_bf16();
GemmKernel bf16_gemm_amx_bf16() {
  return HWY_NAMESPACE::matrix_tiles_kernel<HWY_NAMESPACE::Bf16Tiles, WordKind::bf16>();
}

}  // namespace alate::cpu
