#include "base/libraries/library_folders.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/files/private_folder.h"
#include "base/os/environment.h"
#include "base/os/program_path.h"

namespace alate::base {

std::vector<std::filesystem::path> visible_folders_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders;
  std::error_code ignored;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.is_directory(ignored) && !entry.path().filename().string().starts_with('.'))
      folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<std::filesystem::path> own_library_folders() {
  constexpr const char* kRuntimes = "runtimes";
  std::vector<std::filesystem::path> folders;
  if (const std::filesystem::path program = program_path(); !program.empty()) {
    folders.push_back(program.parent_path());
    folders.push_back(program.parent_path() / kRuntimes);
    for (std::filesystem::path& each : visible_folders_in(folders.back())) folders.push_back(std::move(each));
  }
  try {
    const std::filesystem::path runtimes = cache_directory() / kRuntimes;
    if (!is_trusted(runtimes)) return folders;
    folders.push_back(runtimes);
    for (std::filesystem::path& each : visible_folders_in(runtimes)) {
      if (is_trusted(each)) folders.push_back(std::move(each));
    }
  } catch (const Error&) {
    // Without a home folder nothing was installed there.
  }
  return folders;
}

}  // namespace alate::base
