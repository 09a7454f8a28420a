// Hints about accelerators that need no vendor library.
#pragma once

#include <filesystem>
#include <string>

namespace alate::base {

/// False if no GPU, TPU or neural engine driver has created a device, so no library needs to be asked. True if the
/// system does not say.
bool may_have_accelerators(const std::filesystem::path& root = "/");

/// The versions of the loaded drivers, for cache keys; empty if there are none.
std::string accelerator_drivers(const std::filesystem::path& root = "/");

}  // namespace alate::base
