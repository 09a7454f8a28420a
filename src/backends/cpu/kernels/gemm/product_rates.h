// Measured GEMM throughput per type on this machine, for choosing among types.
#pragma once

#include "backends/cpu/kernels/dispatch/kernel_set.h"

namespace alate::cpu {

/// Multiply-adds per second on one thread, with operands in the cache.
struct ProductRates {
  double f32 = 0, bf16 = 0, integers = 0;

  /// Whether a rate is so far above f32's that measurement noise cannot confuse the two: between types, rates differ by
  /// factors near 1/2, 1, 2 and 4.
  bool is_clearly_above_f32(double rate) const { return rate > 1.3 * f32; }
};

/// Measures the kernels of a set for a few milliseconds. Takes the best of several tries, so that other work on the
/// machine hardly matters.
ProductRates measure_product_rates(const Kernels& set);

/// The rates of kernels(), measured once per process on first use. Thread-safe.
const ProductRates& product_rates();

}  // namespace alate::cpu
