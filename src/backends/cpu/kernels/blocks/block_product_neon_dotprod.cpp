// Products with ggml blocks by AArch64's dot products.
#include "backends/cpu/kernels/blocks/block_product.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

// The instruction multiplies signed bytes: of whole bytes 128 is subtracted, which is their zero.
struct SignedDot {
  static constexpr bool kTakesSigned = true;
  template <bool kIsWide>
  static HWY_INLINE LaneIntegers add(LaneIntegers sum, ByteVector bytes, LaneIntegers a) {
    if constexpr (kIsWide) bytes = hn::Xor(bytes, hn::Set(kBytes, std::uint8_t{128}));
    return LaneIntegers{vdotq_s32(sum.raw, vreinterpretq_s8_u8(bytes.raw), vreinterpretq_s8_s32(a.raw))};
  }
  template <bool kIsWide>
  static HWY_INLINE LaneIntegers add_pair(LaneIntegers sum, ByteVector one, LaneIntegers a, ByteVector other,
                                          LaneIntegers b) {
    return add<kIsWide>(add<kIsWide>(sum, one, a), other, b);
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

BlockKernels block_kernels_neon_dotprod();
BlockKernels block_kernels_neon_dotprod() { return HWY_NAMESPACE::make_block_kernels<HWY_NAMESPACE::SignedDot>(); }

}  // namespace alate::cpu
