// f32 functions with hand-written vector code; tile.h has all functions, for every type.
#pragma once

#include <cstdint>

namespace alate::cpu {

/// StableHLO's ops of these names.
enum class UnaryOp : std::uint8_t {
  floor,
  ceil,
  round_nearest_even,
  sqrt,
  rsqrt,
  exp,
  expm1,
  log,
  log1p,
  tanh,
  erf,
  logistic
};

}  // namespace alate::cpu
