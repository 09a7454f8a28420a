// What the machine says about accelerators without any library of theirs.
#pragma once

#include <filesystem>
#include <string>

namespace alate::base {

/// False where no driver of a GPU, TPU or neural engine has made a device: then no library needs to be asked. True
/// where the system does not say.
bool may_have_accelerators(const std::filesystem::path& root = "/");

/// The versions of the drivers that the system has loaded, for keys of caches; empty where it has none.
std::string accelerator_drivers(const std::filesystem::path& root = "/");

}  // namespace alate::base
