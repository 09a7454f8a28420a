// GEMM micro-kernels by operand packing; gemm.h says what they compute.
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "backends/cpu/kernels/vectors/word_kind.h"

namespace alate::cpu {

struct GemmArguments;
struct GemmBlock;

/// The micro-kernel for one kind of words. The engine calls gemm.h.
struct GemmKernel {
  WordKind kind = WordKind::f32;
  std::size_t panel_width = 0;    // columns of W in one packed panel
  std::size_t rows_per_tile = 0;  // rows of A per tile
  void (*run)(const GemmBlock&) = nullptr;
  /// Fills in row_sums for rows [begin, end) of a finished C.
  void (*sum_rows)(const GemmArguments&, std::size_t begin, std::size_t end) = nullptr;
  std::size_t weight_bytes = 4;  // of W per word of A: a whole word, or an f32 stored in fewer bytes
};

/// The GEMM kernels of an instruction set's table (dispatch.h). Integers are bytes where the CPU multiplies four at a
/// time, otherwise shorts.
struct GemmKernels {
  GemmKernel f32, bf16, integers;
  // Bit-identical to f32 with widened weights, at half the memory: A is f32, W is packed from bf16 or f16.
  GemmKernel f32_by_bf16, f32_by_f16;

  // Independent chains of multiply-adds in registers, to measure the CPU's peak.
  float (*run_multiply_adds)(std::size_t rounds) = nullptr;
  std::size_t flops_per_round = 0;
};

const GemmKernels& gemm_kernels(const Kernels& set = kernels());

/// The f32 kernel of the chosen instruction set. Thread-safe. Throws what kernels() throws.
const GemmKernel& f32_gemm();

}  // namespace alate::cpu
