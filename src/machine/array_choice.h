// The choice behind include/alate/context.h, as a pure function.
#pragma once

#include <string>

#include "alate/context.h"
#include "machine/machine.h"

namespace alate::machine {

struct ArrayChoice {
  ArrayDevice device;
  bool is_wanted = true;      // false: what was asked for cannot be had
  std::string refusals = {};  // why not, for each place where it might have been
};

/// What arrays run on. Where `wanted` cannot be had, the automatic order is followed. On Windows that has ONNX Runtime.
ArrayChoice choose_arrays(ArrayBackend wanted, const Machine& machine, bool is_windows);

/// Whether the choice may come to the backend, so that its library must be looked at.
bool concerns_arrays(ArrayBackend wanted, const BackendState& backend, bool may_have_accelerators, bool is_windows);

}  // namespace alate::machine
