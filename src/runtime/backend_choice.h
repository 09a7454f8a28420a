// Which backend of this build serves what was asked for.
#pragma once

#include <span>
#include <string>

namespace alate::runtime {

/// What to do when the backend that is asked for cannot be had.
enum class BackendPolicy {
  strict,  // fail
  warn,    // use the next one and say so
  allow,   // use the next one
};

/// The name of the first backend of `wanted` (NAME[:DEVICE], NAME or "auto") that is here and has that device; of the
/// processor's when none is. `device` counts for those that name none. A choice that is passed over is logged under
/// `warn` and is unavailable under `strict`. Throws invalid_argument for a name that no backend has.
std::string choose_backend(std::span<const std::string> wanted, const std::string& device, BackendPolicy policy);

}  // namespace alate::runtime
