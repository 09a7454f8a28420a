// 8-bit GEMM with AArch64's dot-product instructions, in the tiles of gemm_neon.cpp.
#include "backends/cpu/kernels/gemm/gemm_dots.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

// The instruction multiplies signed by signed bytes, so 128 is subtracted from A's, which only flips the highest bit;
// the sums are corrected at the end, exactly.
struct SignedBytesDot : WholeWords {
  static constexpr WordKind kKind = WordKind::bytes;
  static constexpr std::int32_t kOperandOffset = 128;
  template <std::size_t kPart>
  static HWY_INLINE FloatVector operand(const float* word) {
    return hn::BitCast(kFloats, hn::Xor(hn::BitCast(kBits, broadcast_word(word)), hn::Set(kBits, 0x80808080U)));
  }
  static HWY_INLINE FloatVector add(FloatVector sum, FloatVector operand, FloatVector weights) {
    return hn::BitCast(kFloats,
                       IntegerVector(vdotq_s32(vreinterpretq_s32_f32(sum.raw), vreinterpretq_s8_f32(operand.raw),
                                               vreinterpretq_s8_f32(weights.raw))));
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

GemmKernel bytes_gemm_neon_dotprod();
GemmKernel bytes_gemm_neon_dotprod() { return HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::SignedBytesDot, 6, 4>(); }

}  // namespace alate::cpu
