// AMX tile registers, as gemm_matrix_tiles.inl.h uses them; a derived class multiplies. In assembly, because GCC 12's
// intrinsics take no template parameters and do not declare that they read and write memory.
#pragma once

#include "backends/cpu/kernels/gemm/gemm_matrix_tiles.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

class AmxTiles {
 public:
  void configure(const TileShapes& shapes) { __asm__ volatile("ldtilecfg %0" : : "m"(shapes)); }
  // Registers in use would be saved at each context switch, and keep the core's clock low.
  void release() { __asm__ volatile("tilerelease"); }

  template <int kTile>
  HWY_INLINE void zero() {
    __asm__ volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  template <int kTile>
  HWY_INLINE void load(const float* from, std::size_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride * sizeof(float)), "i"(kTile) : "memory");
  }
  template <int kTile>
  HWY_INLINE void store(float* to, std::size_t stride) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride * sizeof(float)), "i"(kTile) : "memory");
  }
};

// For words of two bf16.
struct Bf16Tiles : AmxTiles {
  // Products of the words' first values and of their second values are summed separately; the two sums are then added.
  template <int kSums, int kRows, int kColumns>
  HWY_INLINE void multiply() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kRows), "i"(kColumns));
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
