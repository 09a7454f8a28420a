#include <unistd.h>

#include <cstdlib>

#include "alate/error.h"
#include "base/os/environment.h"

namespace alate::base {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::vector<std::string> environment_names(std::string_view prefix) {
  std::vector<std::string> names;
  for (char** each = ::environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view line = *each;
    const std::size_t end = line.find('=');
    if (end != std::string_view::npos && end + 1 < line.size() && line.starts_with(prefix))
      names.emplace_back(line.substr(0, end));
  }
  return names;
}

void set_environment_default(const char* name, const std::string& value) {
  if (environment(name)) return;
  ::setenv(name, value.c_str(), 1);
}

void set_environment(const char* name, const std::string& value) {
  if (environment(name) != value) ::setenv(name, value.c_str(), 1);
}

std::filesystem::path cache_directory() {
  if (const auto home = environment("ALATE_HOME")) return *home;
  // XDG Base Directory Specification: relative paths are to be ignored.
  if (const auto cache = environment("XDG_CACHE_HOME"); cache && std::filesystem::path(*cache).is_absolute()) {
    return std::filesystem::path(*cache) / "alate";
  }
  if (const auto home = environment("HOME")) return std::filesystem::path(*home) / ".cache" / "alate";
  throw make_error(ErrorCode::not_found, "there is no cache folder: set ALATE_HOME, or HOME");
}

std::optional<std::filesystem::path> configuration_directory() {
  if (const auto folder = environment("XDG_CONFIG_HOME"); folder && std::filesystem::path(*folder).is_absolute())
    return std::filesystem::path(*folder) / "alate";
  if (const auto home = environment("HOME")) return std::filesystem::path(*home) / ".config" / "alate";
  return std::nullopt;
}

}  // namespace alate::base
