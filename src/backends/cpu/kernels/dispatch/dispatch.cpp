#include "backends/cpu/kernels/dispatch/dispatch.h"

#include "alate/error.h"

namespace alate::cpu {

void fill_gemm_scalar(GemmKernels& kernels);
BlockKernels block_kernels_scalar();
// Fills in the CPU family's vector kernels: in dispatch_x86.cpp, dispatch_aarch64.cpp or dispatch_other.cpp, as the
// build chooses. With extensions, kernels that use them replace slower ones.
void fill_vector_kernels(Kernels& kernels, bool with_extensions);

namespace {

Kernels make_kernels(base::InstructionSet set, bool with_extensions = true) {
  Kernels kernels;
  kernels.set = set;
  if (set == base::InstructionSet::scalar) {
    fill_gemm_scalar(kernels);
    kernels.blocks = block_kernels_scalar();
    kernels.simd = simd_kernels_scalar();
  } else {
    fill_vector_kernels(kernels, with_extensions);
  }
  return kernels;
}

}  // namespace

const Kernels& kernels_for(base::InstructionSet set) {
  using base::InstructionSet;
  if (!base::can_run(set)) {
    throw make_error(ErrorCode::unsupported, "this processor or this build cannot run ", base::to_string(set),
                     " kernels; the best here is ", base::to_string(base::cpu_facts().best));
  }
  // Each table is filled only on demand: the functions that fill it are compiled for that instruction set.
  switch (set) {
    case InstructionSet::avx512: {
      static const Kernels table = make_kernels(InstructionSet::avx512);
      return table;
    }
    case InstructionSet::avx2: {
      static const Kernels table = make_kernels(InstructionSet::avx2);
      return table;
    }
    case InstructionSet::neon: {
      static const Kernels table = make_kernels(InstructionSet::neon);
      return table;
    }
    case InstructionSet::scalar: break;
  }
  static const Kernels table = make_kernels(InstructionSet::scalar);
  return table;
}

Kernels kernels_without_extensions(base::InstructionSet set) {
  const Kernels& with = kernels_for(set);  // throws if the CPU lacks the set
  return make_kernels(with.set, false);
}

const Kernels& kernels() {
  static const Kernels& chosen = kernels_for(base::chosen_instruction_set());
  return chosen;
}

base::InstructionSet instruction_set(const Kernels& set) { return set.set; }

const ElementwiseKernels& elementwise_kernels(const Kernels& set) { return set.simd; }
const MovingKernels& moving_kernels(const Kernels& set) { return set.simd; }
const RowKernels& row_kernels(const Kernels& set) { return set.simd; }
const QuantizeKernels& quantize_kernels(const Kernels& set) { return set.simd; }
const BlockKernels& block_kernels(const Kernels& set) { return set.blocks; }
const WindowKernels& window_kernels(const Kernels& set) { return set.simd; }
const GemmKernels& gemm_kernels(const Kernels& set) { return set; }
ProductLoop product_loop(DType dtype, const Kernels& set) { return set.simd.product_loop(dtype); }

const AttentionKernel& attention_kernel_for(WordKind operands, const Kernels& set) {
  if (operands == WordKind::bf16) return set.bf16_attention;
  return operands == WordKind::shorts ? set.short_attention : set.simd.attention;
}

}  // namespace alate::cpu
