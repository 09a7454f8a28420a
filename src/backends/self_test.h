// A self-test of a device: runs a small graph and compares the results with the reference interpreter.
#pragma once

#include <string>

#include "backends/backend.h"

namespace alate::backends {

/// Empty when the device's results are right, else what is wrong with them or what failed. Never throws.
std::string self_test(Backend& backend, const Device& device);

}  // namespace alate::backends
