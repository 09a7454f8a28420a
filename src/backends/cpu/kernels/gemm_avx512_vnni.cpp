// Products of bytes with AVX-512 VNNI, in tiles as gemm_avx512.cpp has them.
#include "backends/cpu/kernels/gemm_dots.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

struct BytesDot : WholeWords {
  static constexpr WordKind kKind = WordKind::bytes;
  static HWY_INLINE FloatVector add(FloatVector sum, FloatVector operand, FloatVector weights) {
    return FloatVector{_mm512_castsi512_ps(_mm512_dpbusd_epi32(
        _mm512_castps_si512(sum.raw), _mm512_castps_si512(operand.raw), _mm512_castps_si512(weights.raw)))};
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

GemmKernel bytes_gemm_avx512_vnni();
GemmKernel bytes_gemm_avx512_vnni() { return HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::BytesDot, 14, 2>(); }

}  // namespace alate::cpu
