// Products with ggml blocks for any CPU of the architecture, in vectors of 16 bytes.
#include "backends/cpu/kernels/blocks/block_product.inl.h"
#include "backends/cpu/kernels/blocks/byte_pairs.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

#if HWY_ARCH_X86
struct BytePairs {
  using Vector = decltype(LaneIntegers::raw);
  static HWY_INLINE Vector multiply(Vector bytes, Vector signed_bytes) {
    return _mm_maddubs_epi16(bytes, signed_bytes);
  }
  static HWY_INLINE Vector add(Vector one, Vector other) { return _mm_add_epi16(one, other); }
  static HWY_INLINE Vector add_to(Vector sum, Vector shorts, std::int16_t factor) {
    return _mm_add_epi32(sum, _mm_madd_epi16(shorts, _mm_set1_epi16(factor)));
  }
};
using BaselineDot = PairsDot<BytePairs>;
#else
// Every lane's four bytes, widened one after the other.
struct BaselineDot {
  static constexpr bool kTakesSigned = false;
  static HWY_INLINE LaneIntegers add(LaneIntegers sum, ByteVector bytes, LaneIntegers signed_bytes) {
    const auto whole = hn::BitCast(kLaneIntegers, bytes);
    const auto low = hn::Set(kLaneIntegers, 255);
    sum = hn::Add(sum, hn::Mul(hn::And(whole, low), hn::ShiftRight<24>(hn::ShiftLeft<24>(signed_bytes))));
    sum = hn::Add(sum,
                  hn::Mul(hn::And(hn::ShiftRight<8>(whole), low), hn::ShiftRight<24>(hn::ShiftLeft<16>(signed_bytes))));
    sum = hn::Add(sum,
                  hn::Mul(hn::And(hn::ShiftRight<16>(whole), low), hn::ShiftRight<24>(hn::ShiftLeft<8>(signed_bytes))));
    return hn::Add(sum, hn::Mul(hn::And(hn::ShiftRight<24>(whole), low), hn::ShiftRight<24>(signed_bytes)));
  }
  template <bool kIsWide>
  static HWY_INLINE LaneIntegers add_pair(LaneIntegers sum, ByteVector one, LaneIntegers a, ByteVector other,
                                          LaneIntegers b) {
    return add(add(sum, one, a), other, b);
  }
};
#endif

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

BlockKernels block_kernels_scalar();
BlockKernels block_kernels_scalar() { return HWY_NAMESPACE::make_block_kernels<HWY_NAMESPACE::BaselineDot>(); }

}  // namespace alate::cpu
