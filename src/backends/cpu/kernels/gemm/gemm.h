// Matrix product with constant weights: C[m,n] = activation(A[m,k] W[n,k]^T + bias[n]) + residual[m,n], with C, bias
// and residual in f32.
//
// A and W are rows of *words* of 32 bits: one f32, two bf16, or a few small integers, as the GemmKernel says. A word of
// A times a word of W is the sum of the products of what they hold, and strides and k count words.
//
// Kernels with narrow weights (GemmKernel::weight_bytes is 2) take W as bf16 or f16, which mean one f32 each: k is then
// their number.
//
// W is packed once per model into panels of a few columns, which the product then reads from start to end. Each element
// of C is one chain of multiply-adds over k = 0, 1, ... in that order, whatever m, the place in the tile and the number
// of threads: a row of C has the same bits alone and in any batch. (They do differ between instruction sets.)
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/elementwise/activation.h"
#include "backends/cpu/kernels/gemm/gemm_kernel.h"
#include "backends/cpu/kernels/quantize/quantize_rows.h"
#include "backends/cpu/kernels/rows/row_sums.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// Rows of A that overlap, as what the windows of a convolution see does. They come in lines of equal numbers of rows,
/// and each has its k values in segments of equal length: segment s of row p of line l begins at a + line_offsets[l] +
/// p * a_stride + segment_offsets[s]. Offsets are in words.
struct GemmLines {
  std::size_t rows = 1;                             // of a line; m is a multiple of it
  const std::ptrdiff_t* line_offsets = nullptr;     // [m / rows]
  const std::ptrdiff_t* segment_offsets = nullptr;  // [segments]
  std::size_t segments = 1;                         // k is a multiple of it
};

/// Whether gemm takes lines of so many rows.
bool takes_lines(std::size_t rows, std::size_t k, const GemmKernel& kernel = f32_gemm());

/// What sums of integers stand for. Rows of A are cut into runs of equal numbers of words; an integer q of run r of row
/// i means row_offsets[i, r] + row_scales[i, r] q, one of run r of column j of W means column_scales[r, j] q, and
/// column_sums[r, j] is the sum of column j's integers in run r. So c is the sum over r of column_scales[r, j] times
/// row_scales[i, r] sum(i, j, r) + row_offsets[i, r] column_sums[r, j].
struct IntegerScales {
  const float* row_scales = nullptr;     // [m, runs]
  const float* row_offsets = nullptr;    // [m, runs]
  const float* column_scales = nullptr;  // [runs, n], or [n] for all runs
  const float* column_sums = nullptr;    // [runs, n]
  std::size_t runs = 1;                  // divides k
  bool has_column_scales_of_runs = false;
  std::size_t row_stride = 0;  // from a row's scales, and offsets, to the next one's; 0: runs
};

/// As many floats as the widest vector of any instruction set has: none crosses the blocks that C is stored in.
constexpr std::size_t kColumnBlockUnit = 16;

/// All matrices are row-major; strides are words from one row to the next. Nothing is owned. No alignment is needed
/// but that of `packed`, 64 bytes, and of A's rows, that of its values. `c` may be the same matrix as `residual` (same
/// address and stride), else overlaps nothing.
///
/// C may also be stored in blocks of its columns, [column / column_block][row][column % column_block], which begin
/// block_stride floats apart; c_stride is between rows in a block. A block has a multiple of kColumnBlockUnit columns,
/// n is a multiple of it, and c is then not the residual.
///
/// Or C becomes bf16, as bf16_rows.h rounds, but that subnormals may become zeros, which products of bf16 take for
/// zeros. Or C becomes integers, of which whole runs are made as soon as their columns are done: `integers` then says
/// where they go, as for quantize_rows, but for x, rows and width, which are C, m and n; see may_be_integers.
struct GemmArguments {
  const void* a = nullptr;  // [m, k]
  std::size_t a_stride = 0;
  const GemmLines* lines = nullptr;  // or null: row r of A begins at a + r * a_stride
  const void* packed = nullptr;      // of W [n, k], by pack_weights or pack_words
  IntegerScales scales = {};         // of kernels of integers
  const float* bias = nullptr;       // [n], or null
  Activation activation = Activation::none;
  const float* residual = nullptr;  // [m, n], or null
  std::size_t residual_stride = 0;
  float* c = nullptr;  // [m, n]
  std::size_t c_stride = 0;
  std::size_t column_block = 0, block_stride = 0;  // 0: columns lie side by side
  std::uint16_t* halves = nullptr;                 // [m, n], or null: of kernels of bf16, takes C instead of c, rounded
  std::size_t halves_stride = 0;                   // in numbers
  QuantizeArguments integers = {};                 // with words: takes C instead of c
  float* row_sums = nullptr;  // [m, kSumLanes], or null: sums of C's rows, where c takes C, not in blocks
  std::size_t m = 0, n = 0, k = 0;
};

/// Whether gemm makes integers of a C with n columns in so many runs.
bool may_be_integers(std::size_t n, std::size_t runs, const GemmKernel& kernel);

/// Words of memory, 4 bytes each, that the packed form of W [n, k] takes.
std::size_t packed_word_count(std::size_t n, std::size_t k, const GemmKernel& kernel = f32_gemm());

/// Packs W [n, k] of f32, as PyTorch stores a linear layer's weight, into `packed`: packed_word_count(n, k) floats,
/// aligned to 64 bytes. The last panel is filled up with zeros. Uses the threads of `pool` unless it is null.
void pack_weights(const float* w, std::size_t w_stride, std::size_t n, std::size_t k, float* packed,
                  base::ThreadPool* pool = nullptr, const GemmKernel& kernel = f32_gemm());

/// The same for rows of `row_bytes` bytes, `w_stride` bytes apart: k is row_bytes / 4 (or kernel.weight_bytes), rounded
/// up, and what the last word of a row lacks is zero.
void pack_words(const std::byte* w, std::size_t w_stride, std::size_t n, std::size_t row_bytes, std::byte* packed,
                base::ThreadPool* pool = nullptr, const GemmKernel& kernel = f32_gemm());

/// Computes C on at most `max_workers` threads of `pool` (0: all); small products stay on the calling thread. `kernel`
/// must be the one that packed W. Rows that lie a multiple of 4096 bytes apart are copied to where they do not drive
/// each other out of the first-level cache, and what is to be integers waits for the end of its run: for these, and
/// only the first time, threads allocate; throws resource_exhausted.
void gemm(const GemmArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
          const GemmKernel& kernel = f32_gemm());

/// Long rows are taken in parts, so that one part of a panel fits the second-level cache beside the rows; between the
/// parts, the sums wait in memory, which changes none of their bits.
constexpr std::size_t kMostKAtOnce = 1024;
/// Tiles whose sums may wait: as many strips of rows as fit that cache with such long rows.
constexpr std::size_t kMostStrips = 16;

/// What one task of gemm computes: rows [row_begin, row_end), whole lines where A has lines, of the columns in panels
/// [panel_begin, panel_end). Panels up to fetch_end, of which none is before panel_end, are drawn into the cache.
struct GemmBlock {
  const GemmArguments* arguments;
  std::size_t row_begin, row_end, panel_begin, panel_end;
  std::size_t fetch_end = panel_end;
};

}  // namespace alate::cpu
