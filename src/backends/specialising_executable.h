// Executables for which new extents are expensive.
#pragma once

#include "backends/backend.h"

namespace alate::backends {

/// Recompiles for each combination of extents that it is run with, and keeps a limited number of the results. Callers
/// that can round up paddable dims do so (runtime/batching/rounding.h); the executable never pads by itself.
class SpecialisingExecutable : public Executable {};

}  // namespace alate::backends
