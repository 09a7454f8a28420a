// Packs weights of ggml's block types for products: block_form.h.
#pragma once

#include <cstddef>

#include "backends/cpu/kernels/blocks/block_form.h"
#include "base/threads/thread_pool.h"

namespace alate::cpu {

/// Bytes of the packed form of W [n, k]; k is a multiple of the type's block.
std::size_t packed_block_bytes(tensor::EncodingKind kind, std::size_t n, std::size_t k);

/// Packs the rows of W, whole blocks one after another, into packed_block_bytes bytes, aligned to 64.
void pack_blocks(tensor::EncodingKind kind, const std::byte* w, std::size_t n, std::size_t k, std::byte* packed,
                 base::ThreadPool& pool);

}  // namespace alate::cpu
