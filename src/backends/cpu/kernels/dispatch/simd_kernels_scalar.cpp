#include "backends/cpu/kernels/dispatch/simd_kernels.inl.h"

namespace alate::cpu {

SimdKernels simd_kernels_scalar() {
  SimdKernels table = HWY_NAMESPACE::make_simd_kernels();
  table.tile_loop = find_tile_loop_scalar;
  table.reduce_loop = find_reduce_loop_scalar;
  fill_any_type_scalar(table);
  return table;
}

}  // namespace alate::cpu
