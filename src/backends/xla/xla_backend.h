// Graphs on whatever a PJRT plugin drives: processors, GPUs, TPUs.
#pragma once

#include "backends/backend.h"

namespace alate::xla {

/// One object for the process; the plugin is opened at first need. Thread-safe.
backends::Backend& xla_backend();

}  // namespace alate::xla
