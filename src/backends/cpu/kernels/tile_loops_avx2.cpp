#include "backends/cpu/kernels/simd_kernels.h"
#include "backends/cpu/kernels/tile_loops.inl.h"

namespace alate::cpu {

TileKernel find_tile_loop_avx2(TileOp op, DType dtype, std::size_t bytes) {
  return HWY_NAMESPACE::tile_loop(op, dtype, bytes);
}

}  // namespace alate::cpu
