// The part of the kernel table that is written once in portable SIMD and compiled once per instruction set.
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/attention/attention.h"
#include "backends/cpu/kernels/elementwise/elementwise_kernels.h"
#include "backends/cpu/kernels/gemm/product.h"
#include "backends/cpu/kernels/moving/moving_kernels.h"
#include "backends/cpu/kernels/quantize/quantize_kernels.h"
#include "backends/cpu/kernels/rows/row_kernels.h"
#include "backends/cpu/kernels/windows/window_kernels.h"

namespace alate::cpu {

struct SimdKernels : ElementwiseKernels, MovingKernels, RowKernels, QuantizeKernels, WindowKernels {
  const char* target = nullptr;  // Highway's name of the compilation target
  AttentionKernel attention;
  ProductLoop (*product_loop)(DType) = nullptr;
};

// In files of their own, tile_loops_SET.cpp, because there are many.
TileKernel find_tile_loop_scalar(TileOp op, DType dtype, std::size_t element_bytes);
TileKernel find_tile_loop_avx2(TileOp op, DType dtype, std::size_t element_bytes);
TileKernel find_tile_loop_avx512(TileOp op, DType dtype, std::size_t element_bytes);

ReduceLoop find_reduce_loop_scalar(TileOp op, DType dtype);
ReduceLoop find_reduce_loop_avx2(TileOp op, DType dtype);
ReduceLoop find_reduce_loop_avx512(TileOp op, DType dtype);

// In any_type_SET.cpp.
void fill_any_type_scalar(SimdKernels& table);
void fill_any_type_avx2(SimdKernels& table);
void fill_any_type_avx512(SimdKernels& table);

SimdKernels simd_kernels_scalar();  // the build's baseline: SSE4 on x86-64, NEON on AArch64
SimdKernels simd_kernels_avx2();
SimdKernels simd_kernels_avx512();

}  // namespace alate::cpu
