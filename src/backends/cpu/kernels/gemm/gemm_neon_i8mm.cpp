// 8-bit GEMM with AArch64's I8MM extension, in the tiles of gemm_neon.cpp.
#include "backends/cpu/kernels/gemm/gemm_dots.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

struct MultiplyBytes {
  static HWY_INLINE IntegerVector add(IntegerVector sum, IntegerVector operand, IntegerVector weights) {
    return IntegerVector(vusdotq_s32(sum.raw, vreinterpretq_u8_s32(operand.raw), vreinterpretq_s8_s32(weights.raw)));
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

GemmKernel bytes_gemm_neon_i8mm();
GemmKernel bytes_gemm_neon_i8mm() {
  return HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::IntegersDot<WordKind::bytes, HWY_NAMESPACE::MultiplyBytes>, 6, 4>();
}

}  // namespace alate::cpu
