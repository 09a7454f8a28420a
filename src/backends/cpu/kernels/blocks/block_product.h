// Products with weights of ggml's block types: C = activation(A Wᵀ + bias) + residual, W packed by pack_blocks.h.
//
// Rows of A are rounded to integers from -127 to 127, in groups of 32 with a scale each, or kept as floats. With
// integers, an element of C is one chain of sums over W's groups in order, each an exact integer dot product, times W's
// scale, less the minimum times the sum of A's integers, times A's scale; with floats, one chain of multiply-adds over
// k with W's exact values, as gemm.h computes with W in f32. Both are the same whatever m, the position in a tile and
// the number of threads, so a row has the same bits by itself and in any batch.
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/blocks/block_form.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

struct BlockProduct {
  tensor::EncodingKind kind = tensor::EncodingKind::q4_0;  // of W: one that has a form
  bool rounds_rows = true;                                 // false: A is used as floats
  /// a, a_stride, packed, bias, activation, residual, c (row-major or in column blocks) and m, n, k, in floats; the
  /// rest is not used.
  GemmArguments product;
};

/// Bytes for A's integers, aligned to 64; 0 where A is used as floats.
std::size_t block_product_scratch(const BlockProduct& product);

/// Computes C on at most `max_workers` threads of `pool` (0: all). `scratch` has block_product_scratch bytes. Threads
/// allocate scratch of their own the first time. Throws resource_exhausted.
void multiply_blocks(const BlockProduct& product, std::byte* scratch, base::ThreadPool& pool, std::size_t max_workers,
                     const Kernels& set = kernels());

}  // namespace alate::cpu
