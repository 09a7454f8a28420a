// Attention with products of shorts, in AVX2: a multiply and an add in place of VNNI's one instruction.
#include "backends/cpu/kernels/attention/attention_shorts.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

struct MultiplyShorts {
  static HWY_INLINE WordVector add(WordVector sum, WordVector a, WordVector b) {
    return settled(WordVector{_mm256_add_epi32(sum.raw, _mm256_madd_epi16(a.raw, b.raw))});
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

AttentionKernel short_attention_avx2();
AttentionKernel short_attention_avx2() {
  return HWY_NAMESPACE::attention_kernel<HWY_NAMESPACE::ShortProducts<HWY_NAMESPACE::MultiplyShorts>>();
}

}  // namespace alate::cpu
