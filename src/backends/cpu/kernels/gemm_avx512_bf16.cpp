// Products of bf16 with AVX-512 BF16, in tiles as gemm_avx512.cpp has them.
#include "backends/cpu/kernels/gemm_dots.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

// The products of a word are added to each other and to the sum, each step rounded to nearest even; subnormals count as
// zeros (Intel's manual, VDPBF16PS).
struct Bf16Dot : WholeWords {
  static constexpr WordKind kKind = WordKind::bf16;
  static HWY_INLINE FloatVector add(FloatVector sum, FloatVector operand, FloatVector weights) {
    return FloatVector{
        _mm512_dpbf16_ps(sum.raw, reinterpret_cast<__m512bh>(operand.raw), reinterpret_cast<__m512bh>(weights.raw))};
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

GemmKernel bf16_gemm_avx512_bf16();
GemmKernel bf16_gemm_avx512_bf16() { return HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::Bf16Dot, 14, 2>(); }

}  // namespace alate::cpu
