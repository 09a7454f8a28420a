// Which backend of this build serves what was asked for.
#pragma once

#include <span>
#include <string>

#include "common_options.h"

namespace alate::app {

/// The name of the first backend of `wanted` (NAME[:DEVICE], NAME or "auto") that is here and has that device; of the
/// processor's when none is. `device` counts for those that name none. A choice that is passed over is logged under
/// Policy::warn and is unavailable under Policy::strict. Throws invalid_argument for a name that no backend has.
std::string choose_backend(std::span<const std::string> wanted, const std::string& device, Policy policy);

}  // namespace alate::app
