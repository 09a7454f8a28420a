// How fast this machine's matrix products are in each type, to choose among types by.
#pragma once

#include "backends/cpu/kernels/dispatch/kernel_set.h"

namespace alate::cpu {

/// Multiplications with an addition a second on one thread, of operands in the cache.
struct ProductRates {
  double f32 = 0, bf16 = 0, integers = 0;

  /// Whether a rate is so much above that of f32 that no measurement takes the one for the other: between types, rates
  /// differ by factors near 1/2, 1, 2 and 4.
  bool is_clearly_above_f32(double rate) const { return rate > 1.3 * f32; }
};

/// Measures the kernels of a set for a few milliseconds. The best of several tries counts, so that other work on the
/// machine hardly matters.
ProductRates measure_product_rates(const Kernels& set);

/// Those of kernels(), measured once a process, when they are first asked for. Thread-safe.
const ProductRates& product_rates();

}  // namespace alate::cpu
