// 8-bit GEMM with AVX-VNNI, in the tiles of gemm_avx2.cpp.
#include "backends/cpu/kernels/gemm/gemm_dots.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {
namespace {

struct MultiplyBytes {
  static HWY_INLINE IntegerVector add(IntegerVector sum, IntegerVector operand, IntegerVector weights) {
    return IntegerVector{_mm256_dpbusd_avx_epi32(sum.raw, operand.raw, weights.raw)};
  }
};

}  // namespace
}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace alate::cpu {

GemmKernel bytes_gemm_avx2_vnni();
GemmKernel bytes_gemm_avx2_vnni() {
  return HWY_NAMESPACE::gemm_kernel<HWY_NAMESPACE::IntegersDot<WordKind::bytes, HWY_NAMESPACE::MultiplyBytes>, 6, 2>();
}

}  // namespace alate::cpu
