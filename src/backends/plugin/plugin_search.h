// The search for third-party backends, only by their file names.
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
  std::vector<std::string> refused;  // the file, and why
};

/// Files libalate_backend_NAME.so (or .dylib, or alate_backend_NAME.dll) in the folders and files that `path` names,
/// separated like the system's PATH. Opens none. Refuses names that are no valid NAME, that are `taken`, or that an
/// earlier file has, and paths that do not exist.
PluginSearch find_plugins(std::string_view path, std::span<const std::string_view> taken);

/// Whether this is a valid name for a backend or device: up to 32 of a-z, 0-9, '_' and '-', the first one a letter.
bool is_plugin_name(std::string_view name);

}  // namespace alate::plugin
