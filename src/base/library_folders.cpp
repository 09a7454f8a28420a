#include "base/library_folders.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "alate/error.h"
#include "base/environment.h"
#include "base/program_path.h"

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
  const auto add_with_folders = [&](const std::filesystem::path& runtimes) {
    folders.push_back(runtimes);
    for (std::filesystem::path& each : visible_folders_in(runtimes)) folders.push_back(std::move(each));
  };
  if (const std::filesystem::path program = program_path(); !program.empty()) {
    folders.push_back(program.parent_path());
    add_with_folders(program.parent_path() / kRuntimes);
  }
  try {
    add_with_folders(cache_directory() / kRuntimes);
  } catch (const Error&) {
    // There is no home folder, so nothing was put there.
  }
  return folders;
}

}  // namespace alate::base
