// Products of activations in f32 with weights that are stored as bf16 or f16: gemm.h's, with what comes before them.
// With bf16, activations are rounded to it, so that every kernel multiplies the same numbers exactly and adds in f32;
// with f16, only the weights are of fewer bits.
#pragma once

#include <cstddef>

#include "alate/tensor.h"
#include "backends/cpu/kernels/dispatch/kernel_set.h"
#include "backends/cpu/kernels/gemm/gemm.h"

namespace alate::cpu {

/// The kernel that multiplies such weights here, which is the one place that decides how they are packed: that of bf16
/// where it is clearly faster than that of f32 on this machine, otherwise that of f32 which reads such weights as they
/// are. The same for the life of the process. `weight` here and below: bf16 or f16.
const GemmKernel& half_product_kernel(DType weight);

/// Bytes of the packed form of W [n, k].
std::size_t packed_half_bytes(std::size_t n, std::size_t k, const GemmKernel& kernel);

/// Packs W [n, k], dense, into packed_half_bytes bytes, aligned to 64. Uses the threads of `pool` unless it is null.
void pack_half_weights(const void* w, std::size_t n, std::size_t k, void* packed, base::ThreadPool* pool,
                       const GemmKernel& kernel);

/// Bytes that multiply_half needs for activations of m rows.
std::size_t half_product_scratch(DType weight, std::size_t m, std::size_t k, const GemmKernel& kernel);

/// gemm of activations as they are: a, a_stride and k count floats, and `lines` are not taken. `packed` is of
/// pack_half_weights with this kernel.
void multiply_half(DType weight, const GemmArguments& arguments, std::byte* scratch, base::ThreadPool& pool,
                   std::size_t max_workers, const GemmKernel& kernel, const Kernels& set = kernels());

}  // namespace alate::cpu
