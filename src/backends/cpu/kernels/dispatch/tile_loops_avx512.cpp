#include "backends/cpu/kernels/dispatch/simd_kernels.h"
#include "backends/cpu/kernels/elementwise/tile_loops.inl.h"
#include "backends/cpu/kernels/rows/reduce.inl.h"

namespace alate::cpu {

TileKernel find_tile_loop_avx512(TileOp op, DType dtype, std::size_t bytes) {
  return HWY_NAMESPACE::tile_loop(op, dtype, bytes);
}

ReduceLoop find_reduce_loop_avx512(TileOp op, DType dtype) { return HWY_NAMESPACE::find_reduce_loop(op, dtype); }

}  // namespace alate::cpu
