// The reference interpreter as a backend.
#pragma once

#include "backends/backend.h"

namespace alate::backends {

/// Runs every op of the op table, without decomposition.
Backend& reference_backend();

}  // namespace alate::backends
