// Rows of tables looked up, added and normalized in one pass: what the embeddings of an encoder are. A row's bits
// depend on its place alone, and are those of its steps one after the other.
#pragma once

#include <cstddef>

#include "alate/tensor.h"
#include "backends/cpu/kernels/dispatch/kernel_set.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// One addend of the sum: for place p, a row of a table. With indices that is row indices[p % period], of an index
/// beyond the table the nearest row that there is; without, row p % period. Nothing is owned.
struct EmbeddingAddend {
  DType dtype = DType::f32;       // of the table: f32, bf16, f16, i8 or u8
  const void* table = nullptr;    // [rows, width]
  std::size_t rows = 0;           // one at least; without indices `period` at least
  const float* scales = nullptr;  // [rows], of a table of integers: its numbers are stored · scale
  const void* indices = nullptr;  // [period] of i32 or i64; null: none
  bool has_wide_indices = false;  // i64
  std::size_t period = 1;
};

struct EmbedNormArguments {
  const EmbeddingAddend* addends = nullptr;
  std::size_t count = 0;         // of the addends, 1 to kMaxEmbeddingAddends; they are added in their order
  const float* scale = nullptr;  // [width], of the layer norm, as its shift
  const float* shift = nullptr;
  float epsilon = 0;
  float* out = nullptr;  // [places, width]
  std::size_t places = 0, width = 0;
};

constexpr std::size_t kMaxEmbeddingAddends = 8;

/// Row p of the result is the layer norm (normalize.h) of the sum of the addends' rows for p.
void embed_norm(const EmbedNormArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                const Kernels& set = kernels());

}  // namespace alate::cpu
