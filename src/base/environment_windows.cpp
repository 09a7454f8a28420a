#include <cstdlib>

#include "alate/error.h"
#include "base/environment.h"
#include "base/windows_text.h"

namespace alate::base {

std::optional<std::string> environment(const char* name) {
  const wchar_t* value = ::_wgetenv(to_utf16(name).c_str());
  if (value == nullptr || *value == L'\0') return std::nullopt;
  return to_utf8(value);
}

std::filesystem::path cache_directory() {
  if (const auto home = environment("ALATE_HOME")) return *home;
  if (const auto local = environment("LOCALAPPDATA")) return std::filesystem::path(*local) / "alate";
  throw make_error(ErrorCode::not_found, "there is no cache folder: set ALATE_HOME, or LOCALAPPDATA");
}

}  // namespace alate::base
