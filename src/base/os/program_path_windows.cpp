#include <windows.h>

#include <string>

#include "base/os/program_path.h"

namespace alate::base {

std::filesystem::path program_path() {
  // The longest path that Windows supports; a path longer than the buffer would be truncated without an error.
  constexpr DWORD kLongest = 32768;
  std::wstring text(kLongest, L'\0');
  const DWORD length = ::GetModuleFileNameW(nullptr, text.data(), kLongest);
  if (length == 0 || length >= kLongest) return {};
  text.resize(length);
  return text;
}

}  // namespace alate::base
