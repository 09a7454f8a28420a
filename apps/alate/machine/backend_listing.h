// Backends and decisions as people read them.
#pragma once

#include <string>

#include "machine/machine.h"
#include "machine/selection.h"

namespace alate::app {

/// A paragraph a backend: its devices with their memory, or why there are none and what to do.
std::string backend_listing(const machine::Machine& machine);

/// What was considered, in order, and what speaks against each.
std::string selection_listing(const Selection& selection);

}  // namespace alate::app
