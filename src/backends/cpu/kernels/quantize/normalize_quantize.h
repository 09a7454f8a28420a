// Normalization of rows of f32, and their integers of 8 bits while they are in the first-level cache.
#pragma once

#include "backends/cpu/kernels/quantize/quantize_rows.h"
#include "backends/cpu/kernels/rows/normalize.h"

namespace alate::cpu {

/// What normalize_rows writes, and of those rows what quantize_rows writes: the same bits as by one after the other.
/// The rows, their width and x of `integers` are the norm's: they need not be given.
void normalize_and_quantize_rows(NormKind kind, const NormArguments& norm, const QuantizeArguments& integers,
                                 base::ThreadPool& pool, std::size_t max_workers, const Kernels& set = kernels());

}  // namespace alate::cpu
