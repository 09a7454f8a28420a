// What a backend says about the sizes of runs, so that callers need not know which backend it is.
#pragma once

#include <cstddef>

namespace alate::backends {

/// How runs of an executable are best sized. Rows are what a graph's first dim counts: the tokens of an encoder.
struct BatchHint {
  /// The most rows that one run gains from; a caller with more of them makes several runs.
  std::size_t rows = 2048;
  /// Threads of this process's shared pool that a run splits its work over; 0: it does not use the pool. If not 0,
  /// several small runs inside a parallel loop of that pool take less time than one large run of all their rows.
  std::size_t workers = 0;
  /// Rows that one of these threads best takes through the whole graph together.
  std::size_t rows_per_worker = 128;
  /// Each combination of extents is compiled anew, and a limited number of results is kept: callers that can round up
  /// paddable dims do so. The executable never pads by itself.
  bool specialises = false;
};

/// Multiply-adds of matrix products per second, by type, as measured on this machine.
struct ProductRates {
  double f32 = 0, bf16 = 0, integers = 0;

  /// Whether a rate is so far above f32's that measurement noise cannot confuse the two: between types, rates differ by
  /// factors near 1/2, 1, 2 and 4.
  bool is_clearly_above_f32(double rate) const { return rate > 1.3 * f32; }
};

}  // namespace alate::backends
