// bf16 GEMM with AVX-512 BF16, in the tiles of gemm_avx512.cpp.
#include "backends/cpu/kernels/gemm/gemm_dots.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

// A word's products are added to each other and to the sum, each step rounded to nearest even; subnormals are flushed
// to zero (Intel's manual, VDPBF16PS).
struct Bf16Dot : WholeWords {
  static constexpr WordKind kKind = WordKind::bf16;
  // In assembly: Clang 16 crashes on vectors of bf16 in code for AddressSanitizer.
  static HWY_INLINE FloatVector add(FloatVector sum, FloatVector operand, FloatVector weights) {
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(operand.raw), "v"(weights.raw));
    return sum;
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

GemmKernel bf16_gemm_avx512_bf16();
GemmKernel bf16_gemm_avx512_bf16() { return HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::Bf16Dot, 14, 2>(); }

}  // namespace alate::cpu
