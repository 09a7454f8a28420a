// Products of f32 activations with weights stored as bf16 or f16: gemm.h with activation rounding before it. With bf16
// weights, activations are rounded to bf16, so that every kernel multiplies the same numbers exactly and adds in f32;
// with f16 weights, activations stay f32.
#pragma once

#include <cstddef>

#include "alate/tensor.h"
#include "backends/cpu/kernels/gemm/gemm.h"
#include "backends/cpu/kernels/vectors/kernel_set.h"

namespace alate::cpu {

/// The kernel that multiplies such weights, which also decides how they are packed; only this function chooses it: the
/// bf16 kernel where it is clearly faster than f32 on this machine, otherwise the f32 kernel that reads half-precision
/// weights directly. The same for the life of the process. `weight` here and below: bf16 or f16.
const GemmKernel& half_product_kernel(DType weight);

/// Bytes of the packed form of W [n, k].
std::size_t packed_half_bytes(std::size_t n, std::size_t k, const GemmKernel& kernel);

/// Packs W [n, k], dense, into packed_half_bytes bytes, aligned to 64. Uses the threads of `pool` unless it is null.
void pack_half_weights(const void* w, std::size_t n, std::size_t k, void* packed, base::ThreadPool* pool,
                       const GemmKernel& kernel);

/// Bytes of scratch that multiply_half needs for m rows of activations.
std::size_t half_product_scratch(DType weight, std::size_t m, std::size_t k, const GemmKernel& kernel);

/// gemm of f32 activations: a_stride and k count floats; `lines` is not supported. `packed` comes from
/// pack_half_weights with the same kernel.
void multiply_half(DType weight, const GemmArguments& arguments, std::byte* scratch, base::ThreadPool& pool,
                   std::size_t max_workers, const GemmKernel& kernel, const Kernels& set = kernels());

}  // namespace alate::cpu
