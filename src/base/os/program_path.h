// The path of the running program and the folders installed with it.
#pragma once

#include <filesystem>
#include <vector>

namespace alate::base {

/// The program's own file; empty if the system does not say.
std::filesystem::path program_path();

/// Folders that may hold data installed with the program, `share`, which need not exist: beside the program, beside its
/// folder (PREFIX/bin/alate), and the system's: /usr/local/share and /usr/share, or those that XDG_DATA_DIRS names; on
/// Windows none.
std::vector<std::filesystem::path> shared_data_folders();

}  // namespace alate::base
