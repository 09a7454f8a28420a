// Functions on f32 that have vector code of their own; tile.h has them all, for every type.
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
