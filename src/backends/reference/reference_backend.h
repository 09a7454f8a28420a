// The reference interpreter as a backend.
#pragma once

#include "backends/backend.h"

namespace alate::backends {

/// Runs every op of the table, decomposing nothing.
Backend& reference_backend();

}  // namespace alate::backends
