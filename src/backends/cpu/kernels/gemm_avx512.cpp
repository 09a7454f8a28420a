// Matrix products with AVX-512: tiles of 14 by 32, 28 of the 32 registers.
#include "backends/cpu/kernels/gemm_dots.inl.h"
#include "backends/cpu/kernels/multiply_adds.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

struct ShortsDot : WholeWords {
  static constexpr WordKind kKind = WordKind::shorts;
  static HWY_INLINE FloatVector add(FloatVector sum, FloatVector operand, FloatVector weights) {
    const __m512i product = _mm512_madd_epi16(_mm512_castps_si512(operand.raw), _mm512_castps_si512(weights.raw));
    return FloatVector{_mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(sum.raw), product))};
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

void fill_gemm_avx512(Kernels& kernels);
void fill_gemm_avx512(Kernels& kernels) {
  kernels.f32 = HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::FloatDot, 14, 2>();
  kernels.bf16 = HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::WidenedBf16Dot, 12, 2>();
  kernels.integers = HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::ShortsDot, 13, 2>();
  HWY_NAMESPACE::fill_multiply_adds(kernels);
}

}  // namespace alate::cpu
