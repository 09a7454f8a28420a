// The table of compute kernels of one instruction set; kernel_set.h has the functions that give one.
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/dispatch/kernel_set.h"
#include "backends/cpu/kernels/dispatch/simd_kernels.h"
#include "backends/cpu/kernels/gemm/gemm_kernel.h"
#include "base/hardware/cpu_facts.h"

namespace alate::cpu {

/// Kernels of one instruction set. Each takes plain pointers and strides, starts no threads, allocates nothing and
/// throws nothing; several threads may run the same one at the same time.
struct Kernels {
  base::InstructionSet set = base::InstructionSet::scalar;

  // GEMM kernels. Integers are bytes where the CPU multiplies four at a time, otherwise shorts.
  GemmKernel f32, bf16, integers;
  // Bit-identical to f32 with widened weights, at half the memory: A is f32, W is packed from bf16 or f16.
  GemmKernel f32_by_bf16, f32_by_f16;

  // Attention with products of shorts or bf16 (AttentionArguments::rounds_operands and rounds_to_bf16); null where that
  // is not faster.
  AttentionKernel short_attention, bf16_attention;

  // Independent chains of multiply-adds in registers, to measure the CPU's peak.
  float (*run_multiply_adds)(std::size_t rounds) = nullptr;
  std::size_t flops_per_round = 0;

  // Element-wise, row and attention kernels: the engine calls the functions of their own headers.
  SimdKernels simd;
};

}  // namespace alate::cpu
