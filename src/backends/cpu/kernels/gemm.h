// Matrix product with constant weights in f32: C[m,n] = activation(A[m,k] W[n,k]^T + bias[n]) + residual[m,n].
//
// W is packed once per model into panels of a few columns, which the product then reads from start to end. Each element
// of C is one chain of multiply-adds over k = 0, 1, ... in that order, whatever m, the place in the tile and the number
// of threads: a row of C has the same bits alone and in any batch. (They do differ between instruction sets.)
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/activation.h"
#include "backends/cpu/kernels/kernel_set.h"
#include "base/thread_pool.h"

namespace alate::cpu {

/// Rows of A that overlap, as what the windows of a convolution see does. They come in lines of equal numbers of rows,
/// and each has its k values in segments of equal length: segment s of row p of line l begins at a + line_offsets[l] +
/// p * a_stride + segment_offsets[s]. Offsets are in floats.
struct GemmLines {
  std::size_t rows = 1;                             // of a line; m is a multiple of it
  const std::ptrdiff_t* line_offsets = nullptr;     // [m / rows]
  const std::ptrdiff_t* segment_offsets = nullptr;  // [segments]
  std::size_t segments = 1;                         // k is a multiple of it
};

/// Whether gemm takes lines of so many rows.
bool takes_lines(std::size_t rows, std::size_t k, const Kernels& kernels = alate::cpu::kernels());

/// All matrices are row-major; strides are floats from one row to the next. Nothing is owned. No alignment is needed
/// but that of `packed`. `c` may be the same matrix as `residual` (same address and stride), else overlaps nothing.
struct GemmArguments {
  const float* a = nullptr;  // [m, k]
  std::size_t a_stride = 0;
  const GemmLines* lines = nullptr;  // or null: row r of A begins at a + r * a_stride
  const float* packed = nullptr;     // of W [n, k], by pack_weights
  const float* bias = nullptr;       // [n], or null
  Activation activation = Activation::none;
  const float* residual = nullptr;  // [m, n], or null
  std::size_t residual_stride = 0;
  float* c = nullptr;  // [m, n]
  std::size_t c_stride = 0;
  std::size_t m = 0, n = 0, k = 0;
};

/// Floats that the packed form of W [n, k] takes.
std::size_t packed_float_count(std::size_t n, std::size_t k, const Kernels& kernels = alate::cpu::kernels());

/// Packs W [n, k], as PyTorch stores a linear layer's weight, into `packed`: packed_float_count(n, k) floats, aligned
/// to 64 bytes. The last panel is filled up with zeros. Uses the threads of `pool` unless it is null.
void pack_weights(const float* w, std::size_t w_stride, std::size_t n, std::size_t k, float* packed,
                  base::ThreadPool* pool = nullptr, const Kernels& kernels = alate::cpu::kernels());

/// Computes C on at most `max_workers` threads of `pool` (0: all); small products stay on the calling thread. `kernels`
/// must be those that packed W. Allocates nothing.
void gemm(const GemmArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
          const Kernels& kernels = alate::cpu::kernels());

/// Long rows are taken in parts, so that one part of a panel fits the second-level cache beside the rows; between the
/// parts, the sums wait in memory, which changes none of their bits.
constexpr std::size_t kMostKAtOnce = 1024;
/// Tiles whose sums may wait: as many strips of rows as fit that cache with such long rows.
constexpr std::size_t kMostStrips = 16;

/// What one task of gemm computes: rows [row_begin, row_end), whole lines where A has lines, of the columns in panels
/// [panel_begin, panel_end).
struct GemmBlock {
  const GemmArguments* arguments;
  std::size_t row_begin, row_end, panel_begin, panel_end;
};

}  // namespace alate::cpu
