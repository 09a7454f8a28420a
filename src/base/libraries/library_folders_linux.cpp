#include "base/libraries/library_folders.h"
#include "base/os/environment.h"
#include "base/split_text.h"

namespace alate::base {

std::vector<std::filesystem::path> paths_of_list(std::string_view list) {
  std::vector<std::filesystem::path> paths;
  for (const std::string_view path : split_text(list, ':')) {
    if (!path.empty()) paths.emplace_back(path);
  }
  return paths;
}

std::vector<std::filesystem::path> system_library_folders() {
  std::vector<std::filesystem::path> folders = paths_of_list(environment("LD_LIBRARY_PATH").value_or(""));
  for (const char* usual : {"/usr/local/lib", "/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"})
    folders.emplace_back(usual);
  return folders;
}

std::vector<std::filesystem::path> system_data_folders() {
  return paths_of_list(environment("XDG_DATA_DIRS").value_or("/usr/local/share:/usr/share"));
}

}  // namespace alate::base
