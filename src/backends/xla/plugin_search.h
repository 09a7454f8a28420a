// Where PJRT plugins lie on this machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace alate::xla {

struct PluginSearch {
  std::vector<std::filesystem::path> found;  // the best first: of the folder that was named first
  std::string looked_in;                     // for the message where none was found
};

/// Files that are named as plugins are, in the folders of PJRT_PLUGIN_LIBRARY_PATH (or that file), the cache's
/// runtimes/, beside the program, and the system's library folders.
PluginSearch find_plugins();

}  // namespace alate::xla
