#include <string_view>

#include "alate/error.h"
#include "backends/cpu/kernels/dispatch/dispatch.h"
#include "base/hardware/cpu_facts.h"
#include "base/hardware/matrix_tiles.h"

namespace alate::cpu {

void fill_gemm_avx2(GemmKernels& kernels);
void fill_gemm_avx512(GemmKernels& kernels);
GemmKernel bytes_gemm_avx2_vnni();
GemmKernel bytes_gemm_avx512_vnni();
BlockKernels block_kernels_avx2();
BlockKernels block_kernels_avx2_vnni();
BlockKernels block_kernels_avx512();
BlockKernels block_kernels_avx512_vnni();
AttentionKernel short_attention_avx2();
AttentionKernel short_attention_avx2_vnni();
AttentionKernel short_attention_avx512();
AttentionKernel short_attention_avx512_vnni();
AttentionKernel bf16_attention_amx_bf16();
GemmKernel bf16_gemm_avx512_bf16();
GemmKernel bytes_gemm_amx_int8();
GemmKernel bf16_gemm_amx_bf16();
void fill_vector_kernels(Kernels& kernels, bool with_extensions);

namespace {

// Where the operating system refuses AMX, vector kernels are used, unless ALATE_ISA asks for it: then this throws.
bool uses_tiles(std::string_view extension) {
  if (!base::uses_extension(extension)) return false;
  if (base::request_matrix_tiles()) return true;
  if (!base::requires_extension(extension)) return false;
  throw make_error(ErrorCode::unsupported, "ALATE_ISA asks for ", extension,
                   ", but the operating system does not let this process use the tile registers of AMX; leave it out");
}

}  // namespace

void fill_vector_kernels(Kernels& kernels, bool with_extensions) {
  const auto uses = [&](std::string_view extension) { return with_extensions && base::uses_extension(extension); };
  if (kernels.set == base::InstructionSet::avx512) {
    fill_gemm_avx512(kernels);
    kernels.short_attention = short_attention_avx512();
    kernels.blocks = block_kernels_avx512();
    if (uses("avx512_vnni")) {
      kernels.integers = bytes_gemm_avx512_vnni();
      kernels.short_attention = short_attention_avx512_vnni();
      kernels.blocks = block_kernels_avx512_vnni();
    }
    if (with_extensions && uses_tiles("amx_int8")) kernels.integers = bytes_gemm_amx_int8();
    if (uses("avx512_bf16")) {
      kernels.bf16 = bf16_gemm_avx512_bf16();
      if (uses_tiles("amx_bf16")) {  // its kernels round with AVX-512 BF16
        kernels.bf16 = bf16_gemm_amx_bf16();
        kernels.bf16_attention = bf16_attention_amx_bf16();
      }
    }
    kernels.simd = simd_kernels_avx512();
  } else {
    fill_gemm_avx2(kernels);
    kernels.short_attention = short_attention_avx2();
    kernels.blocks = block_kernels_avx2();
    if (uses("avx_vnni")) {
      kernels.integers = bytes_gemm_avx2_vnni();
      kernels.short_attention = short_attention_avx2_vnni();
      kernels.blocks = block_kernels_avx2_vnni();
    }
    kernels.simd = simd_kernels_avx2();
  }
}

}  // namespace alate::cpu
