#include "backends/cpu/kernels/simd_kernels.inl.h"

namespace alate::cpu {

SimdKernels simd_kernels_scalar() { return HWY_NAMESPACE::make_simd_kernels(); }

}  // namespace alate::cpu
