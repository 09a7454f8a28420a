#include "backends/cpu/kernels/simd_kernels.inl.h"

namespace alate::cpu {

SimdKernels simd_kernels_avx512() { return HWY_NAMESPACE::make_simd_kernels(); }

}  // namespace alate::cpu
