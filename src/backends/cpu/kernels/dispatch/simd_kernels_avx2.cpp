#include "backends/cpu/kernels/dispatch/simd_kernels.inl.h"

namespace alate::cpu {

SimdKernels simd_kernels_avx2() {
  SimdKernels table = HWY_NAMESPACE::make_simd_kernels();
  table.tile_loop = find_tile_loop_avx2;
  table.reduce_loop = find_reduce_loop_avx2;
  fill_any_type_avx2(table);
  return table;
}

}  // namespace alate::cpu
