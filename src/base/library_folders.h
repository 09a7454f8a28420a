// Where libraries of others may lie that are opened at run time.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace alate::base {

/// Folders of this installation, which need not exist: the program's own, `runtimes` in that, and `runtimes` of the
/// cache (`cache_directory`).
std::vector<std::filesystem::path> own_library_folders();

/// Folders of the machine: those of LD_LIBRARY_PATH, then the usual ones; on Windows those of PATH.
std::vector<std::filesystem::path> system_library_folders();

/// The paths of a list as environment variables have it, separated by colons; on Windows by semicolons. Empty ones are
/// left out.
std::vector<std::filesystem::path> paths_of_list(std::string_view list);

}  // namespace alate::base
