// The work of one kernel call, by which its speed is judged.
#pragma once

#include <cstdint>

namespace alate::backends {

/// The type that a kernel multiplies in; it determines which of the machine's peaks is the bound.
enum class Arithmetic : std::uint8_t {
  none,   // moves values, or its operations are not counted
  other,  // a type whose peak is not measured: f64, integers that wrap
  f32,
  bf16,
  int8,
  int16,
};

/// The least that a call must do, whatever its algorithm.
struct Work {
  double flops = 0;  // additions and multiplications, a fused pair counted as two; 0 where not counted
  double bytes = 0;  // every operand read once (weights as they are stored), every result written once
  Arithmetic arithmetic = Arithmetic::none;  // of the flops
};

}  // namespace alate::backends
