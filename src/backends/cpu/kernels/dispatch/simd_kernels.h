// The part of the kernel table that is written once in portable SIMD and compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/attention/attention.h"
#include "backends/cpu/kernels/elementwise/activation.h"
#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/kernels/elementwise/random_bits.h"
#include "backends/cpu/kernels/elementwise/tile.h"
#include "backends/cpu/kernels/gemm/product.h"
#include "backends/cpu/kernels/moving/stream.h"
#include "backends/cpu/kernels/quantize/normalize_quantize.h"
#include "backends/cpu/kernels/quantize/quantize_rows.h"
#include "backends/cpu/kernels/rows/bf16_rows.h"
#include "backends/cpu/kernels/rows/byte_rows.h"
#include "backends/cpu/kernels/rows/embed_norm.h"
#include "backends/cpu/kernels/rows/normalize.h"
#include "backends/cpu/kernels/rows/reduce.h"
#include "backends/cpu/kernels/rows/row_products.h"
#include "backends/cpu/kernels/rows/softmax.h"
#include "backends/cpu/kernels/windows/depthwise.h"
#include "backends/cpu/kernels/windows/fourier.h"
#include "backends/cpu/kernels/windows/pooling.h"
#include "backends/cpu/kernels/windows/window.h"

namespace alate::cpu {

/// Each is documented at the function of the same name in its own header, which adds threading.
struct SimdKernels {
  const char* target = nullptr;  // Highway's name of the compilation target
  void (*unary)(UnaryOp, const float* x, float* y, std::size_t n) = nullptr;
  void (*apply_activation)(Activation, float* x, std::size_t n) = nullptr;
  void (*normalize_rows)(NormKind, const NormArguments&) = nullptr;
  void (*embed_norm)(const EmbedNormArguments&, std::size_t begin,
                     std::size_t end) = nullptr;  // positions [begin, end)
  void (*quantize_rows)(const QuantizeArguments&) = nullptr;
  void (*normalize_and_quantize_rows)(NormKind, const NormArguments&, const QuantizeArguments&) = nullptr;
  void (*round_rows_to_bf16)(const Bf16RowArguments&) = nullptr;
  void (*softmax_rows)(const SoftmaxArguments&) = nullptr;
  void (*pool_tokens)(Pooling, const PoolArguments&) = nullptr;
  void (*dot_rows)(const RowProductArguments&) = nullptr;
  void (*sum_rows)(const RowProductArguments&) = nullptr;
  void (*dot_byte_rows)(const ByteRowArguments&) = nullptr;
  void (*transpose_8)(const std::uint8_t* in, std::size_t in_stride, std::uint8_t* out, std::size_t out_stride,
                      std::size_t rows, std::size_t columns) = nullptr;
  void (*transpose_16)(const std::uint16_t* in, std::size_t in_stride, std::uint16_t* out, std::size_t out_stride,
                       std::size_t rows, std::size_t columns) = nullptr;
  void (*transpose_64)(const std::uint64_t* in, std::size_t in_stride, std::uint64_t* out, std::size_t out_stride,
                       std::size_t rows, std::size_t columns) = nullptr;
  void (*transpose_32)(const std::uint32_t* in, std::size_t in_stride, std::uint32_t* out, std::size_t out_stride,
                       std::size_t rows, std::size_t columns) = nullptr;
  void (*transpose_32_streamed)(const std::uint32_t* in, std::size_t in_stride, std::uint32_t* out,
                                std::size_t out_stride, std::size_t rows, std::size_t columns) = nullptr;
  StreamKernel stream;
  AttentionKernel attention;
  TileKernel (*tile_loop)(TileOp, DType, std::size_t element_bytes) = nullptr;
  ReduceLoop (*reduce_loop)(TileOp, DType) = nullptr;
  ProductLoop (*product_loop)(DType) = nullptr;
  WindowLoop (*window_loop)(TileOp, DType) = nullptr;
  void (*depthwise_run)(const DepthwiseRun&) = nullptr;
  void (*fourier_f32)(const FourierLanes<float>&) = nullptr;
  void (*fourier_f64)(const FourierLanes<double>&) = nullptr;
  ThreefryWords threefry_words = nullptr;
  PhiloxWords philox_words = nullptr;
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
