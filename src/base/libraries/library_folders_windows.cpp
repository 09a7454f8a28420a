#include "base/libraries/library_folders.h"
#include "base/os/environment.h"
#include "base/split_text.h"

namespace alate::base {

std::vector<std::filesystem::path> paths_of_list(std::string_view list) {
  std::vector<std::filesystem::path> paths;
  for (const std::string_view path : split_text(list, ';')) {
    if (!path.empty()) paths.emplace_back(path);
  }
  return paths;
}

std::vector<std::filesystem::path> system_library_folders() { return paths_of_list(environment("PATH").value_or("")); }

std::vector<std::filesystem::path> system_data_folders() { return {}; }

}  // namespace alate::base
