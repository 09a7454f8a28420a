// Products with ggml blocks by the dot products of AVX-512 VNNI.
#include "backends/cpu/kernels/blocks/block_product.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

struct DotOfBytes {
  static constexpr bool kTakesSigned = false;
  template <bool kIsWide>
  static HWY_INLINE LaneIntegers add_pair(LaneIntegers sum, ByteVector one, LaneIntegers a, ByteVector other,
                                          LaneIntegers b) {
    return LaneIntegers{_mm512_dpbusd_epi32(_mm512_dpbusd_epi32(sum.raw, one.raw, a.raw), other.raw, b.raw)};
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

BlockKernels block_kernels_avx512_vnni();
BlockKernels block_kernels_avx512_vnni() { return HWY_NAMESPACE::make_block_kernels<HWY_NAMESPACE::DotOfBytes>(); }

}  // namespace alate::cpu
