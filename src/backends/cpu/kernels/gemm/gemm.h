// GEMM with constant weights: C[m,n] = activation(A[m,k] W[n,k]^T + bias[n]) + residual[m,n], with C, bias
// and residual in f32.
//
// A and W are rows of 32-bit *words*: one f32, two bf16, or a few small integers, as the GemmKernel says. A word of A
// times a word of W is the dot product of their values; strides and k count words.
//
// Kernels with narrow weights (GemmKernel::weight_bytes is 2) take W as bf16 or f16, each value widened to one f32: k
// then counts values.
//
// W is packed once per model into panels of a few columns, which the product reads sequentially. Each element of C is
// one chain of multiply-adds over k = 0, 1, ... in that order, whatever m, the position in the tile and the number of
// threads: a row of C has the same bits by itself and in any batch. (Bits do differ between instruction sets.)
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/elementwise/activation.h"
#include "backends/cpu/kernels/gemm/gemm_kernel.h"
#include "backends/cpu/kernels/quantize/quantize_rows.h"
#include "backends/cpu/kernels/vectors/row_sums.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// Overlapping rows of A, as the windows of a convolution are. Rows come in lines with equal numbers of rows, and the k
/// values of a row in segments of equal length: segment s of row p of line l begins at a + line_offsets[l] +
/// p * a_stride + segment_offsets[s]. Offsets are in words.
struct GemmLines {
  std::size_t rows = 1;                             // per line; m is a multiple of it
  const std::ptrdiff_t* line_offsets = nullptr;     // [m / rows]
  const std::ptrdiff_t* segment_offsets = nullptr;  // [segments]
  std::size_t segments = 1;                         // k is a multiple of it
};

/// Whether gemm takes lines of `rows` rows.
bool takes_lines(std::size_t rows, std::size_t k, const GemmKernel& kernel = f32_gemm());

/// Dequantization of integer sums. Rows of A are cut into `groups` groups with equal numbers of words. An integer q in
/// group r of row i means row_offsets[i, r] + row_scales[i, r] q, one in group r of column j of W means
/// column_scales[r, j] q, and column_sums[r, j] is the sum of column j's integers in group r. So c is the sum over r of
/// column_scales[r, j] times row_scales[i, r] sum(i, j, r) + row_offsets[i, r] column_sums[r, j].
struct IntegerScales {
  const float* row_scales = nullptr;     // [m, groups]
  const float* row_offsets = nullptr;    // [m, groups]
  const float* column_scales = nullptr;  // [groups, n], or [n] for all groups
  const float* column_sums = nullptr;    // [groups, n]
  std::size_t groups = 1;                // divides k
  bool has_group_column_scales = false;
  std::size_t row_stride = 0;  // between rows of row_scales and of row_offsets; 0: groups
};

/// Floats in the widest vector of any instruction set, so that no vector crosses the column blocks that C is stored in.
constexpr std::size_t kColumnBlockUnit = 16;

/// All matrices are row-major; strides are words from one row to the next. Nothing is owned. `packed` must be aligned
/// to 64 bytes and A's rows to their values; nothing else needs alignment. `c` may be the same matrix as `residual`
/// (same address and stride); otherwise it overlaps nothing.
///
/// C may also be stored in column blocks, [column / column_block][row][column % column_block], which begin block_stride
/// floats apart; c_stride is then between rows of a block. column_block is a multiple of kColumnBlockUnit, n is a
/// multiple of column_block, and c must not be the residual.
///
/// Or C is stored as bf16, rounded as by bf16_rows.h, except that subnormals may become zeros, as bf16 products flush
/// them anyway. Or C is quantized, each group as soon as its columns are done: `integers` then says where the result
/// goes, as for quantize_rows, except that x, rows and width are C, m and n; see can_quantize_output.
struct GemmArguments {
  const void* a = nullptr;  // [m, k]
  std::size_t a_stride = 0;
  const GemmLines* lines = nullptr;  // or null: row r of A begins at a + r * a_stride
  const void* packed = nullptr;      // W [n, k], by pack_weights or pack_words
  IntegerScales scales = {};         // integer kernels only
  const float* bias = nullptr;       // [n], or null
  Activation activation = Activation::none;
  const float* residual = nullptr;  // [m, n], or null
  std::size_t residual_stride = 0;
  float* c = nullptr;  // [m, n]
  std::size_t c_stride = 0;
  std::size_t column_block = 0, block_stride = 0;  // 0: C is not in column blocks
  std::uint16_t* halves = nullptr;  // [m, n], or null; bf16 kernels only: receives C as bf16, instead of c
  std::size_t halves_stride = 0;    // in elements
  QuantizeArguments integers = {};  // if `words` is set: receives C quantized, instead of c
  float* row_sums = nullptr;        // [m, kSumLanes], or null: sums of C's rows; needs c, not in column blocks
  std::size_t m = 0, n = 0, k = 0;
};

/// Whether gemm can quantize a C with n columns in `groups` groups per row.
bool can_quantize_output(std::size_t n, std::size_t groups, const GemmKernel& kernel);

/// Size of the packed form of W [n, k], in words of 4 bytes.
std::size_t packed_word_count(std::size_t n, std::size_t k, const GemmKernel& kernel = f32_gemm());

/// Packs W [n, k] of f32, as PyTorch stores a linear layer's weight, into `packed`: packed_word_count(n, k) floats,
/// aligned to 64 bytes. The last panel is padded with zeros. Uses the threads of `pool` unless it is null.
void pack_weights(const float* w, std::size_t w_stride, std::size_t n, std::size_t k, float* packed,
                  base::ThreadPool* pool = nullptr, const GemmKernel& kernel = f32_gemm());

/// The same for rows of `row_bytes` bytes, `w_stride` bytes apart: k is row_bytes / 4 (or / kernel.weight_bytes),
/// rounded up; the last word of a row is padded with zeros.
void pack_words(const std::byte* w, std::size_t w_stride, std::size_t n, std::size_t row_bytes, std::byte* packed,
                base::ThreadPool* pool = nullptr, const GemmKernel& kernel = f32_gemm());

/// Computes C on at most `max_workers` threads of `pool` (0: all); small products stay on the calling thread. `kernel`
/// must be the one that packed W. Threads allocate scratch the first time that they need it: for copies of rows whose
/// stride is a multiple of 4096 bytes, which would evict each other from the L1 cache, and for results to be quantized,
/// which wait until their group is complete. Throws resource_exhausted.
void gemm(const GemmArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
          const GemmKernel& kernel = f32_gemm());

/// Long rows are processed in parts, so that one part of a panel fits the L2 cache beside the rows; between parts, the
/// sums are spilled to memory, which changes none of their bits.
constexpr std::size_t kMaxKBlock = 1024;
/// Most tiles with spilled sums: as many strips of rows as fit the L2 cache with such long rows.
constexpr std::size_t kMostStrips = 16;

/// One task of gemm: rows [row_begin, row_end), whole lines where A has lines, of the columns in panels [panel_begin,
/// panel_end). Panels from panel_end up to fetch_end are prefetched.
struct GemmBlock {
  const GemmArguments* arguments;
  std::size_t row_begin, row_end, panel_begin, panel_end;
  std::size_t fetch_end = panel_end;
};

}  // namespace alate::cpu
