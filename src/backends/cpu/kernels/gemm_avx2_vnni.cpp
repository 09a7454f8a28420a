// Products of bytes with AVX-VNNI, in tiles as gemm_avx2.cpp has them.
#include "backends/cpu/kernels/gemm_dots.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

struct BytesDot : WholeWords {
  static constexpr WordKind kKind = WordKind::bytes;
  static HWY_INLINE FloatVector add(FloatVector sum, FloatVector operand, FloatVector weights) {
    return FloatVector{_mm256_castsi256_ps(_mm256_dpbusd_avx_epi32(
        _mm256_castps_si256(sum.raw), _mm256_castps_si256(operand.raw), _mm256_castps_si256(weights.raw)))};
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

GemmKernel bytes_gemm_avx2_vnni();
GemmKernel bytes_gemm_avx2_vnni() { return HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::BytesDot, 6, 2>(); }

}  // namespace alate::cpu
