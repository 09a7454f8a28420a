// Matrix products with AVX2 and FMA: tiles of 6 by 16, 12 of the 16 registers.
#include "backends/cpu/kernels/gemm_dots.inl.h"
#include "backends/cpu/kernels/multiply_adds.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

struct ShortsDot : WholeWords {
  static constexpr WordKind kKind = WordKind::shorts;
  static HWY_INLINE FloatVector add(FloatVector sum, FloatVector operand, FloatVector weights) {
    const __m256i product = _mm256_madd_epi16(_mm256_castps_si256(operand.raw), _mm256_castps_si256(weights.raw));
    return FloatVector{_mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(sum.raw), product))};
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

void fill_gemm_avx2(Kernels& kernels);
void fill_gemm_avx2(Kernels& kernels) {
  kernels.f32 = HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::FloatDot, 6, 2>();
  kernels.bf16 = HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::WidenedBf16Dot, 6, 2>();
  kernels.integers = HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::ShortsDot, 6, 2>();
  HWY_NAMESPACE::fill_multiply_adds(kernels);
}

}  // namespace alate::cpu
