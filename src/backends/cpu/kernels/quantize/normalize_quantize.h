// Normalization of f32 rows, fused with their 8-bit quantization while they are in the L1 cache.
#pragma once

#include "backends/cpu/kernels/quantize/quantize_rows.h"
#include "backends/cpu/kernels/rows/normalize.h"

namespace alate::cpu {

/// Does normalize_rows, then quantize_rows on its result: bit-identical to the two calls. rows, width and x of
/// `integers` are taken from the norm and need not be set.
void normalize_and_quantize_rows(NormKind kind, const NormArguments& norm, const QuantizeArguments& integers,
                                 base::ThreadPool& pool, std::size_t max_workers, const Kernels& set = kernels());

}  // namespace alate::cpu
