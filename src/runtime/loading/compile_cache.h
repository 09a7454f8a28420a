// The cache folder for graphs compiled by backends.
#pragma once

#include <filesystem>

namespace alate::runtime {

/// The cache's folder for compiled programs; empty where there is no cache folder, or others may have written to it.
std::filesystem::path compile_cache();

}  // namespace alate::runtime
