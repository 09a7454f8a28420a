// Matrix products of any computed dtype: C[m,n] = A[m,k] W[n,k]^T. f32 goes to gemm.h; this adds f64 and the integers
// behind one interface. Complex products are real products of twice the width, see expand_complex.
#pragma once

#include <cstddef>

#include "alate/tensor.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// All matrices are row-major; strides count elements. c overlaps nothing.
struct ProductArguments {
  const void* a = nullptr;  // [m, k]
  std::size_t a_stride = 0;
  const GemmLines* lines = nullptr;  // see gemm.h; f32 only
  const void* packed = nullptr;      // W [n, k], by pack_product
  void* c = nullptr;                 // [m, n]
  std::size_t c_stride = 0;
  std::size_t m = 0, n = 0, k = 0;
};

/// The loop for one dtype and instruction set: rows [row_begin, row_end) of the panels [panel_begin, panel_end).
struct ProductLoop {
  std::size_t panel_width = 0, rows_per_tile = 0;
  void (*run)(const ProductArguments&, std::size_t row_begin, std::size_t row_end, std::size_t panel_begin,
              std::size_t panel_end) = nullptr;
};

/// For f64, u16, u32 or u64 (integers wrap, so signed ones use the same loops). Empty for others.
ProductLoop product_loop(DType dtype, const Kernels& set = kernels());

/// Columns of a panel of the packed form.
std::size_t product_panel_width(DType dtype, const Kernels& set = kernels());

/// Bytes of the packed form of W [n, k]. `dtype` here and below: f32, f64, u16, u32, u64.
std::size_t packed_product_bytes(DType dtype, std::size_t n, std::size_t k, const Kernels& set = kernels());

/// Packs W [n, k] into packed_product_bytes bytes, aligned to 64. Uses the threads of `pool` unless it is null.
void pack_product(DType dtype, const void* w, std::size_t w_stride, std::size_t n, std::size_t k, void* packed,
                  base::ThreadPool* pool = nullptr, const Kernels& set = kernels());

/// The same from transposed W, [k, n], `w_stride` elements from one k to the next.
void pack_transposed_product(DType dtype, const void* w, std::size_t w_stride, std::size_t n, std::size_t k,
                             void* packed, base::ThreadPool& pool, std::size_t max_workers,
                             const Kernels& set = kernels());

/// Computes C. Every element is one chain of multiply-adds over k in order, whatever the number of threads.
void multiply(DType dtype, const ProductArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
              const Kernels& set = kernels());

/// Writes complex W [n, k] as the real matrix [2n, 2k] whose product with A, interleaved as [m, 2k], is C, interleaved
/// as [m, 2n]. `dtype` is c64 or c128.
void expand_complex(DType dtype, const void* w, std::size_t w_stride, std::size_t n, std::size_t k, void* expanded);

}  // namespace alate::cpu
