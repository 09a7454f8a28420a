// Attention with products of shorts, in AVX-VNNI.
#include "backends/cpu/kernels/attention/attention_shorts.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

struct MultiplyShorts {
  static HWY_INLINE WordVector add(WordVector sum, WordVector a, WordVector b) {
    return WordVector{_mm256_dpwssd_avx_epi32(sum.raw, a.raw, b.raw)};
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

AttentionKernel short_attention_avx2_vnni();
AttentionKernel short_attention_avx2_vnni() {
  return HWY_NAMESPACE::attention_kernel<HWY_NAMESPACE::ShortProducts<HWY_NAMESPACE::MultiplyShorts>>();
}

}  // namespace alate::cpu
