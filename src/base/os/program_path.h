// Where the running program lies, and what is installed with it.
#pragma once

#include <filesystem>
#include <vector>

namespace alate::base {

/// The program's own file; empty where the system does not say.
std::filesystem::path program_path();

/// Folders that may hold data installed with the program, `share`, which need not exist: beside the program, beside the
/// folder that it lies in (PREFIX/bin/alate), and the system's: /usr/local/share and /usr/share, or what XDG_DATA_DIRS
/// names; on Windows none.
std::vector<std::filesystem::path> shared_data_folders();

}  // namespace alate::base
