#include "base/environment.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "alate/error.h"

namespace alate::base {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::filesystem::path cache_directory() {
  if (const auto home = environment("ALATE_HOME")) return *home;
  // The XDG Base Directory Specification: a path that is not absolute is to be ignored.
  if (const auto cache = environment("XDG_CACHE_HOME"); cache && std::filesystem::path(*cache).is_absolute()) {
    return std::filesystem::path(*cache) / "alate";
  }
  if (const auto home = environment("HOME")) return std::filesystem::path(*home) / ".cache" / "alate";
  throw make_error(ErrorCode::not_found, "there is no cache folder: set ALATE_HOME, or HOME");
}

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

std::vector<std::filesystem::path> runtime_directories() {
  try {
    std::vector<std::filesystem::path> folders = {cache_directory() / "runtimes"};
    for (std::filesystem::path& each : visible_folders_in(folders.front())) folders.push_back(std::move(each));
    return folders;
  } catch (const Error&) {
    return {};  // there is no home folder, so nothing was put there
  }
}

}  // namespace alate::base
