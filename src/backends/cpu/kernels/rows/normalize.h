// Normalization of f32 rows: layer norm, RMS norm and L2 norm. A row's bits depend only on that row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "backends/cpu/kernels/vectors/row_sums.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

enum class NormKind { layer, rms, l2 };

/// Rows [rows, width]; strides count floats between rows. Nothing is owned. out may be x, residual or sum.
struct NormArguments {
  const float* x = nullptr;
  std::size_t x_stride = 0;
  const float* residual = nullptr;  // added to x first; may be null
  std::size_t residual_stride = 0;
  const float* bias = nullptr;   // [width], added to x first; may be null
  const float* scale = nullptr;  // [width]; null means 1; not for l2
  const float* shift = nullptr;  // [width]; null means 0; not for l2
  float epsilon = 0;             // layer, rms: added to the variance; l2: lower bound of the divisor
  float* sum = nullptr;          // [rows, width], receives x + residual + bias; may be null
  std::size_t sum_stride = 0;
  float* out = nullptr;  // may be null where the rows are also rounded and nothing is added to x
  std::size_t out_stride = 0;
  const float* row_sums = nullptr;  // [rows, kSumLanes] sums of x, for layer where nothing is added to x; may be null
  std::uint16_t* halves = nullptr;  // [rows, width]: the result rounded as by bf16_rows.h; may be null
  std::size_t halves_stride = 0;    // in elements
  std::size_t rows = 0;
  std::size_t width = 0;
};

/// The arguments for rows [begin, end).
NormArguments rows_of_norm(const NormArguments& arguments, std::size_t begin, std::size_t end);

/// Layer norm (arXiv:1607.06450): (v - mean) / sqrt(variance + epsilon) * scale + shift.
/// RMS norm (arXiv:1910.07467): v / sqrt(mean(v^2) + epsilon) * scale + shift.
/// L2: v / max(|v|, epsilon). Here v = x + residual + bias.
void normalize_rows(NormKind kind, const NormArguments& arguments, base::ThreadPool& pool, std::size_t max_workers,
                    const Kernels& set = kernels());

}  // namespace alate::cpu
