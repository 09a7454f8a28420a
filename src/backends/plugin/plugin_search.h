// Where backends of other people's making are found, by the names of their files alone.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace alate::plugin {

struct FoundPlugin {
  std::string name;  // of the backend
  std::filesystem::path file;
};

struct PluginSearch {
  std::vector<FoundPlugin> found;    // in the path's order; those of one folder by name
  std::vector<std::string> refused;  // which file, and why
};

/// Files libalate_backend_NAME.so (or .dylib, or alate_backend_NAME.dll) in the folders and files that `path` names,
/// separated as the system's PATH is. Opens none. Refused are names that are no NAME, that are `taken`, or that an
/// earlier file has, and places that are not there.
PluginSearch find_plugins(std::string_view path, std::span<const std::string_view> taken);

/// Whether backends and devices may be called so: up to 32 of a-z, 0-9, '_' and '-', the first one a letter.
bool is_plugin_name(std::string_view name);

}  // namespace alate::plugin
