#include "base/os/program_path.h"

#include <utility>

#include "base/libraries/library_folders.h"

namespace alate::base {

std::vector<std::filesystem::path> shared_data_folders() {
  std::vector<std::filesystem::path> folders;
  if (const std::filesystem::path program = program_path(); !program.empty()) {
    const std::filesystem::path folder = program.parent_path();
    folders.push_back(folder / "share");
    if (folder.has_relative_path()) folders.push_back(folder.parent_path() / "share");
  }
  for (std::filesystem::path& folder : system_data_folders()) folders.push_back(std::move(folder));
  return folders;
}

}  // namespace alate::base
