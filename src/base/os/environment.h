// Environment variables and the folders that they name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace alate::base {

/// The variable's value; an empty one counts as unset. Safe as long as no thread changes the environment.
std::optional<std::string> environment(const char* name);

/// The names of the variables that begin with `prefix` and are not empty, in any order. Same restriction on threads.
std::vector<std::string> environment_names(std::string_view prefix);

/// Sets a variable that is unset, for libraries that read it. Call it before starting threads that read the
/// environment.
void set_environment_default(const char* name, const std::string& value);

/// Sets a variable whatever its value; does not touch the environment if it already has this value. Same restriction on
/// threads.
void set_environment(const char* name, const std::string& value);

/// Where models and fetched files are kept: $ALATE_HOME, else $XDG_CACHE_HOME/alate, else ~/.cache/alate; on Windows
/// %ALATE_HOME%, else %LOCALAPPDATA%\alate. The folder need not exist yet. Throws not_found when none is set.
std::filesystem::path cache_directory();

/// The user's configuration folder, which need not exist: $XDG_CONFIG_HOME/alate, else ~/.config/alate; on Windows
/// %APPDATA%\alate. Nothing when none is set.
std::optional<std::filesystem::path> configuration_directory();

}  // namespace alate::base
