// Search folders for foreign libraries opened at run time, and for the data of installed programs.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace alate::base {

/// The non-hidden folders in a folder, sorted; none if it does not exist.
std::vector<std::filesystem::path> visible_folders_in(const std::filesystem::path& folder);

/// Folders of this installation, which need not exist: the program's own, `runtimes` in that, and `runtimes` of the
/// cache (`cache_directory`), each `runtimes` with its subfolders. Cache folders that other users may have written to
/// are skipped with a warning.
std::vector<std::filesystem::path> own_library_folders();

/// System folders: those of LD_LIBRARY_PATH, then the usual ones; on Windows those of PATH.
std::vector<std::filesystem::path> system_library_folders();

/// Folders of program data: those of XDG_DATA_DIRS, otherwise /usr/local/share and /usr/share; on Windows none.
std::vector<std::filesystem::path> system_data_folders();

/// The paths of a list as in environment variables, separated by colons, on Windows by semicolons. Empty ones are
/// skipped.
std::vector<std::filesystem::path> paths_of_list(std::string_view list);

}  // namespace alate::base
