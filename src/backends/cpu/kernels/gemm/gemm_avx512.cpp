// GEMM with AVX-512: tiles of 14 by 32, 28 of the 32 registers.
#include "backends/cpu/kernels/gemm/gemm_dots.inl.h"
#include "backends/cpu/kernels/gemm/multiply_adds.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

struct MultiplyShorts {
  static HWY_INLINE IntegerVector add(IntegerVector sum, IntegerVector operand, IntegerVector weights) {
    return settled(IntegerVector{_mm512_add_epi32(sum.raw, _mm512_madd_epi16(operand.raw, weights.raw))});
  }
};
using ShortsDot = IntegersDot<WordKind::shorts, MultiplyShorts>;

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

void fill_gemm_avx512(GemmKernels& kernels);
void fill_gemm_avx512(GemmKernels& kernels) {
  HWY_NAMESPACE::fill_float_products<14, 2>(kernels);
  kernels.bf16 = HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::WidenedBf16Dot, 12, 2>();
  kernels.integers = HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::ShortsDot, 13, 2>();
  HWY_NAMESPACE::fill_multiply_adds(kernels);
}

}  // namespace alate::cpu
