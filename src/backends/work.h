// How much one kernel call has to do, by which its speed is judged.
#pragma once

#include <cstdint>

namespace alate::backends {

/// The type that a kernel multiplies in, which says which peak of the machine bounds it.
enum class Arithmetic : std::uint8_t {
  none,   // moves values, or nobody counted its operations
  other,  // a type of which the peak is not measured: f64, integers that wrap
  f32,
  bf16,
  int8,
  int16,
};

/// What a call cannot do without, whatever way it takes.
struct Work {
  double flops = 0;  // additions and multiplications, a fused pair counted as two; 0 where nobody counted
  double bytes = 0;  // every operand read once (weights as they are stored), every result written once
  Arithmetic arithmetic = Arithmetic::none;  // of the flops
};

}  // namespace alate::backends
