// Where libraries of others may lie that are opened at run time, and the data of installed programs.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace alate::base {

/// The folders in a folder that are not hidden, sorted; none where there is no such folder.
std::vector<std::filesystem::path> visible_folders_in(const std::filesystem::path& folder);

/// Folders of this installation, which need not exist: the program's own, `runtimes` in that, and `runtimes` of the
/// cache (`cache_directory`), each `runtimes` with the folders in it. Those of the cache that others may have written
/// to are left out, with a warning.
std::vector<std::filesystem::path> own_library_folders();

/// Folders of the machine: those of LD_LIBRARY_PATH, then the usual ones; on Windows those of PATH.
std::vector<std::filesystem::path> system_library_folders();

/// Folders of programs' data: those of XDG_DATA_DIRS, else /usr/local/share and /usr/share; on Windows none.
std::vector<std::filesystem::path> system_data_folders();

/// The paths of a list as environment variables have it, separated by colons; on Windows by semicolons. Empty ones are
/// left out.
std::vector<std::filesystem::path> paths_of_list(std::string_view list);

}  // namespace alate::base
