// 8-bit GEMM in AMX tile registers.
#include "backends/cpu/kernels/gemm/amx_tiles.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

struct IntegerTiles : AmxTiles {
  // Unsigned bytes of the rows times signed bytes of the columns.
  template <int kSums, int kRows, int kColumns>
  HWY_INLINE void multiply() {
    __asm__ volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kRows), "i"(kColumns));
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

GemmKernel bytes_gemm_amx_int8();
GemmKernel bytes_gemm_amx_int8() {
  return HWY_NAMESPACE::matrix_tiles_kernel<HWY_NAMESPACE::IntegerTiles, WordKind::bytes>();
}

}  // namespace alate::cpu
