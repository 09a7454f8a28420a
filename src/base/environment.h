// Environment variables and the folders that they name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace alate::base {

/// The variable's value; an empty one counts as unset. Safe as long as no thread changes the environment.
std::optional<std::string> environment(const char* name);

/// Where models and fetched files are kept: $ALATE_HOME, else $XDG_CACHE_HOME/alate, else ~/.cache/alate. The folder
/// need not exist yet. Throws not_found when there is no home folder either.
std::filesystem::path cache_directory();

/// The folders in a folder that are not hidden, sorted; none where there is no such folder.
std::vector<std::filesystem::path> visible_folders_in(const std::filesystem::path& folder);

/// Where fetched runtimes are: the cache folder's "runtimes", and the folders in it. Empty without a home folder.
std::vector<std::filesystem::path> runtime_directories();

}  // namespace alate::base
