// The choice behind include/alate/context.h, as a pure function.
#pragma once

#include <string>

#include "alate/context.h"
#include "runtime/machine.h"

namespace alate::runtime {

struct ArrayChoice {
  ArrayDevice device;
  std::string refusals = {};  // of what comes earlier in the order; empty: nothing does
  bool is_wanted = true;      // false: what was asked for cannot be had
};

/// What arrays run on. Where `wanted` cannot be had, the automatic order is followed. On Windows that has ONNX Runtime.
ArrayChoice choose_arrays(ArrayBackend wanted, const Machine& machine, bool is_windows);

/// Whether the choice may come to the backend, so that its library must be looked at.
bool concerns_arrays(ArrayBackend wanted, const BackendState& backend, bool may_have_accelerators, bool is_windows);

}  // namespace alate::runtime
