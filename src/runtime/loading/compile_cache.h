// Where backends keep what they made out of graphs.
#pragma once

#include <filesystem>

namespace alate::runtime {

/// The cache's folder for compiled programs; empty where there is no cache folder, or others may have written to it.
std::filesystem::path compile_cache();

}  // namespace alate::runtime
