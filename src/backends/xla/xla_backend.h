// The backend that runs graphs on the devices of a PJRT plugin: processors, GPUs, TPUs.
#pragma once

#include "backends/backend.h"

namespace alate::xla {

/// One object per process; the plugin is opened at first use. Thread-safe.
backends::Backend& xla_backend();

}  // namespace alate::xla
