// Executables for which new extents are dear.
#pragma once

#include "backends/backend.h"

namespace alate::backends {

/// Compiles anew for each combination of extents that it is run with, up to a number that it keeps. Callers that can
/// round paddable dims up do so (runtime/batching/rounding.h); it never pads by itself.
class SpecialisingExecutable : public Executable {};

}  // namespace alate::backends
