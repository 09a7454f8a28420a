// Lookup, addition and layer norm of embedding rows in one pass, as in an encoder's embedding layer. A row's bits
// depend only on its own inputs, and are identical to running the steps separately.
#pragma once

#include <cstddef>

#include "alate/tensor.h"
#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// One addend of the sum: for position p, a row of a table. With indices, it is row indices[p % period], clamped to the
/// table; without, row p % period. Nothing is owned.
struct EmbeddingAddend {
  DType dtype = DType::f32;       // table dtype: f32, bf16, f16, i8 or u8
  const void* table = nullptr;    // [rows, width]
  std::size_t rows = 0;           // at least one; without indices, at least `period`
  const float* scales = nullptr;  // [rows], of an integer table: its values are stored · scale
  const void* indices = nullptr;  // [period] of i32 or i64; null: none
  bool has_wide_indices = false;  // i64
  std::size_t period = 1;
};

struct EmbedNormArguments {
  const EmbeddingAddend* addends = nullptr;
  std::size_t count = 0;         // number of addends, 1 to kMaxEmbeddingAddends; added in order
  const float* scale = nullptr;  // [width], the layer norm's; so is shift
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
