// Where the running program lies.
#pragma once

#include <filesystem>

namespace alate::base {

/// The program's own file; empty where the system does not say.
std::filesystem::path program_path();

}  // namespace alate::base
