// The choice of a device for arrays behind include/alate/context.h, as a pure function.
#pragma once

#include <string>

#include "alate/context.h"
#include "machine/machine.h"

namespace alate::machine {

struct ArrayChoice {
  ArrayDevice device;
  bool is_wanted = true;      // false: the wanted one is not available
  std::string refusals = {};  // why not, for each candidate place
};

/// The device that arrays run on. Where `wanted` is not available, the automatic order is followed. On Windows that
/// order includes ONNX Runtime.
ArrayChoice choose_arrays(ArrayBackend wanted, const Machine& machine, bool is_windows);

/// Whether the choice may fall on the backend, so that its library must be probed.
bool concerns_arrays(ArrayBackend wanted, const BackendState& backend, bool may_have_accelerators, bool is_windows);

}  // namespace alate::machine
