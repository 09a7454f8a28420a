// Human-readable listings of backends and of backend selection.
#pragma once

#include <string>

#include "machine/machine.h"
#include "machine/selection.h"

namespace alate::app {

/// One paragraph per backend: its devices with their memory, or why there are none and what to do about it.
std::string backend_listing(const machine::Machine& machine);

/// The candidates considered, in order, and the reason against each. A selection without a backend is one of a model
/// that cannot run.
std::string selection_listing(const Selection& selection);

}  // namespace alate::app
