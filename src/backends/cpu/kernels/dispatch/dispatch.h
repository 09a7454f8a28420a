// The table of compute kernels of one instruction set; kernel_set.h has the functions that give one.
#pragma once

#include "backends/cpu/kernels/blocks/block_kernels.h"
#include "backends/cpu/kernels/dispatch/simd_kernels.h"
#include "backends/cpu/kernels/gemm/gemm_kernel.h"
#include "backends/cpu/kernels/vectors/kernel_set.h"
#include "base/hardware/cpu_facts.h"

namespace alate::cpu {

/// Kernels of one instruction set. Each takes plain pointers and strides, starts no threads, allocates nothing and
/// throws nothing; several threads may run the same one at the same time.
struct Kernels : GemmKernels {
  base::InstructionSet set = base::InstructionSet::scalar;

  // Attention with products of shorts or bf16 (AttentionArguments::rounds_operands and rounds_to_bf16); null where that
  // is not faster.
  AttentionKernel short_attention, bf16_attention;

  BlockKernels blocks;

  // Element-wise, row and attention kernels: the engine calls the functions of their own headers.
  SimdKernels simd;
};

}  // namespace alate::cpu
