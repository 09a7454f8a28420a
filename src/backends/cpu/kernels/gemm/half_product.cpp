#include "backends/cpu/kernels/gemm/half_product.h"

#include <cstdint>

#include "backends/cpu/kernels/gemm/product_rates.h"
#include "backends/cpu/kernels/rows/bf16_rows.h"

namespace alate::cpu {
namespace {

constexpr std::size_t kPackedWordBytes = 4;

// Words in a row of k values, of weights or activations.
std::size_t words_of_row(std::size_t k, const GemmKernel& kernel) {
  const std::size_t values = values_per_word(kernel.kind);
  return (k + values - 1) / values;
}

}  // namespace

const GemmKernel& half_product_kernel(DType weight) {
  const GemmKernels& set = gemm_kernels();
  const bool is_faster = weight == DType::bf16 && product_rates().is_clearly_above_f32(product_rates().bf16);
  if (is_faster) return set.bf16;
  return weight == DType::bf16 ? set.f32_by_bf16 : set.f32_by_f16;
}

std::size_t packed_half_bytes(std::size_t n, std::size_t k, const GemmKernel& kernel) {
  return packed_word_count(n, words_of_row(k, kernel), kernel) * kPackedWordBytes;
}

void pack_half_weights(const void* w, std::size_t n, std::size_t k, void* packed, base::ThreadPool* pool,
                       const GemmKernel& kernel) {
  const std::size_t row_bytes = k * sizeof(std::uint16_t);
  pack_words(static_cast<const std::byte*>(w), row_bytes, n, row_bytes, static_cast<std::byte*>(packed), pool, kernel);
}

std::size_t half_product_scratch(DType weight, std::size_t m, std::size_t k, const GemmKernel& kernel) {
  return weight == DType::bf16 ? m * words_of_row(k, kernel) * kPackedWordBytes : 0;
}

void multiply_half(DType weight, const GemmArguments& arguments, std::byte* scratch, base::ThreadPool& pool,
                   std::size_t max_workers, const GemmKernel& kernel, const Kernels& set) {
  if (weight != DType::bf16) return gemm(arguments, pool, max_workers, kernel);
  GemmArguments product = arguments;
  product.k = product.a_stride = words_of_row(arguments.k, kernel);
  product.a = scratch;
  round_rows_to_bf16({.x = static_cast<const float*>(arguments.a),
                      .x_stride = arguments.a_stride,
                      .words = scratch,
                      .words_stride = product.k,
                      .rows = arguments.m,
                      .width = arguments.k,
                      .kind = kernel.kind},
                     pool, max_workers, set);
  gemm(product, pool, max_workers, kernel);
}

}  // namespace alate::cpu
