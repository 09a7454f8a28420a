// The search for PJRT plugins on this machine.
#pragma once

#include "backends/backend.h"

namespace alate::xla {

/// Files that are named like plugins, in the folders of PJRT_PLUGIN_LIBRARY_PATH (or that file), the cache's runtimes/,
/// beside the program, and the system's library folders.
backends::LibrarySearch find_plugins();

}  // namespace alate::xla
