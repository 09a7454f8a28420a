// GEMM with AVX2 and FMA: tiles of 6 by 16, 12 of the 16 registers.
#include "backends/cpu/kernels/gemm/gemm_dots.inl.h"
#include "backends/cpu/kernels/gemm/multiply_adds.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

struct MultiplyShorts {
  static HWY_INLINE IntegerVector add(IntegerVector sum, IntegerVector operand, IntegerVector weights) {
    return settled(IntegerVector{_mm256_add_epi32(sum.raw, _mm256_madd_epi16(operand.raw, weights.raw))});
  }
};
using ShortsDot = IntegersDot<WordKind::shorts, MultiplyShorts>;

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

void fill_gemm_avx2(GemmKernels& kernels);
void fill_gemm_avx2(GemmKernels& kernels) {
  HWY_NAMESPACE::fill_float_products<6, 2>(kernels);
  kernels.bf16 = HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::WidenedBf16Dot, 6, 2>();
  kernels.integers = HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::ShortsDot, 6, 2>();
  HWY_NAMESPACE::fill_multiply_adds(kernels);
}

}  // namespace alate::cpu
