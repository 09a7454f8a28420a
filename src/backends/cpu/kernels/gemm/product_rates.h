// Measured GEMM throughput per type on this machine, for choosing among types.
#pragma once

#include "backends/batch_hint.h"
#include "backends/cpu/kernels/vectors/kernel_set.h"

namespace alate::cpu {

/// Measures the kernels of a set for a few milliseconds, on one thread, with operands in the cache. Takes the best of
/// several tries, so that other work on the machine hardly matters.
backends::ProductRates measure_product_rates(const Kernels& set);

/// The rates of kernels(), measured once per process on first use. Thread-safe.
const backends::ProductRates& product_rates();

}  // namespace alate::cpu
