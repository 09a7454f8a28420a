// Fills the table of simd_kernels.h with the code compiled for this file's instruction set.
#pragma once

#include "backends/cpu/kernels/attention/attention.inl.h"
#include "backends/cpu/kernels/attention/few_queries.inl.h"
#include "backends/cpu/kernels/dispatch/simd_kernels.h"
#include "backends/cpu/kernels/elementwise/elementwise.inl.h"
#include "backends/cpu/kernels/elementwise/vector_math.inl.h"
#include "backends/cpu/kernels/moving/stream.inl.h"
#include "backends/cpu/kernels/moving/transpose.inl.h"
#include "backends/cpu/kernels/quantize/normalize_quantize.inl.h"
#include "backends/cpu/kernels/quantize/quantize_rows.inl.h"
#include "backends/cpu/kernels/rows/bf16_rows.inl.h"
#include "backends/cpu/kernels/rows/byte_rows.inl.h"
#include "backends/cpu/kernels/rows/embed_norm.inl.h"
#include "backends/cpu/kernels/rows/normalize.inl.h"
#include "backends/cpu/kernels/rows/row_products.inl.h"
#include "backends/cpu/kernels/rows/softmax.inl.h"
#include "backends/cpu/kernels/windows/pooling.inl.h"

HWY_BEFORE_NAMESPACE();
namespace alate::cpu::HWY_NAMESPACE {

inline SimdKernels make_simd_kernels() {
  SimdKernels table;
  table.target = HWY_STR(HWY_NAMESPACE);
  table.unary = unary;
  table.apply_activation = apply_activation;
  table.normalize_rows = normalize_rows;
  table.embed_norm = embed_norm;
  table.quantize_rows = quantize_rows;
  table.normalize_and_quantize_rows = normalize_and_quantize_rows;
  table.round_rows_to_bf16 = round_rows_to_bf16;
  table.softmax_rows = softmax_rows;
  table.pool_tokens = pool_tokens;
  table.dot_rows = dot_rows;
  table.sum_rows = sum_rows;
  table.dot_byte_rows = dot_byte_rows;
  table.transpose_8 = transpose_lanes<std::uint8_t>;
  table.transpose_16 = transpose_lanes<std::uint16_t>;
  table.transpose_32 = transpose_32<false>;
  table.transpose_32_streamed = transpose_32_streamed;
  table.transpose_64 = transpose_lanes<std::uint64_t>;
  table.stream = {.copy = stream_copy, .finish = stream_finish};
  table.attention = attention_kernel<FloatProducts>();
  table.attention.attend_few = attend_few;
  table.attention.few_scratch_floats = few_scratch_floats;
  return table;
}

}  // namespace alate::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
