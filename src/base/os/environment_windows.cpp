#include <windows.h>

#include <cstdlib>
#include <cwchar>

#include "alate/error.h"
#include "base/os/environment.h"
#include "base/os/windows_text.h"

namespace alate::base {

std::optional<std::string> environment(const char* name) {
  const wchar_t* value = ::_wgetenv(to_utf16(name).c_str());
  if (value == nullptr || *value == L'\0') return std::nullopt;
  return to_utf8(value);
}

std::vector<std::string> environment_names(std::string_view prefix) {
  std::vector<std::string> names;
  wchar_t* const block = ::GetEnvironmentStringsW();
  for (const wchar_t* each = block; each != nullptr && *each != L'\0'; each += std::wcslen(each) + 1) {
    const std::string line = to_utf8(each);
    const std::size_t end = line.find('=');
    if (end != std::string::npos && end + 1 < line.size() && line.starts_with(prefix))
      names.push_back(line.substr(0, end));
  }
  if (block != nullptr) ::FreeEnvironmentStringsW(block);
  return names;
}

void set_environment_default(const char* name, const std::string& value) {
  if (environment(name)) return;
  ::_wputenv_s(to_utf16(name).c_str(), to_utf16(value).c_str());
}

void set_environment(const char* name, const std::string& value) {
  if (environment(name) != value) ::_wputenv_s(to_utf16(name).c_str(), to_utf16(value).c_str());
}

std::filesystem::path cache_directory() {
  if (const auto home = environment("ALATE_HOME")) return *home;
  if (const auto local = environment("LOCALAPPDATA")) return std::filesystem::path(*local) / "alate";
  throw make_error(ErrorCode::not_found, "there is no cache folder: set ALATE_HOME, or LOCALAPPDATA");
}

std::optional<std::filesystem::path> configuration_directory() {
  if (const auto roaming = environment("APPDATA")) return std::filesystem::path(*roaming) / "alate";
  return std::nullopt;
}

}  // namespace alate::base
