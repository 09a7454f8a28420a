// Products with ggml blocks with AVX2: bytes are multiplied to shorts.
#include "backends/cpu/kernels/blocks/block_product.inl.h"
#include "backends/cpu/kernels/blocks/byte_pairs.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

struct BytePairs {
  using Vector = decltype(LaneIntegers::raw);
  static HWY_INLINE Vector multiply(Vector bytes, Vector signed_bytes) {
    return _mm256_maddubs_epi16(bytes, signed_bytes);
  }
  static HWY_INLINE Vector add(Vector one, Vector other) { return _mm256_add_epi16(one, other); }
  static HWY_INLINE Vector add_to(Vector sum, Vector shorts, std::int16_t factor) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(shorts, _mm256_set1_epi16(factor)));
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

BlockKernels block_kernels_avx2();
BlockKernels block_kernels_avx2() {
  return HWY_NAMESPACE::make_block_kernels<HWY_NAMESPACE::PairsDot<HWY_NAMESPACE::BytePairs>>();
}

}  // namespace alate::cpu
