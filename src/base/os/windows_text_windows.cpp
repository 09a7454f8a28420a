#include <windows.h>

#include <cerrno>
#include <cwchar>

#include "base/os/windows_text.h"

namespace alate::base {

std::string to_utf8(std::wstring_view text) {
  if (text.empty()) return {};
  const int given = static_cast<int>(text.size());
  const int length = ::WideCharToMultiByte(CP_UTF8, 0, text.data(), given, nullptr, 0, nullptr, nullptr);
  std::string out(static_cast<std::size_t>(length), '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, text.data(), given, out.data(), length, nullptr, nullptr);
  return out;
}

std::wstring to_utf16(std::string_view text) {
  if (text.empty()) return {};
  const int given = static_cast<int>(text.size());
  const int length = ::MultiByteToWideChar(CP_UTF8, 0, text.data(), given, nullptr, 0);
  std::wstring out(static_cast<std::size_t>(length), L'\0');
  ::MultiByteToWideChar(CP_UTF8, 0, text.data(), given, out.data(), length);
  return out;
}

std::string windows_message(unsigned long error) {
  wchar_t text[512];
  const DWORD length = ::FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, error, 0,
                                        text, static_cast<DWORD>(std::size(text)), nullptr);
  std::string message = to_utf8({text, length});
  while (!message.empty() &&
         (message.back() == '\n' || message.back() == '\r' || message.back() == '.' || message.back() == ' '))
    message.pop_back();
  return message.empty() ? "error " + std::to_string(error) : message;
}

}  // namespace alate::base

// The standard library converts a std::string to a std::filesystem::path with this C run time function, but converts a
// path to a std::string as UTF-8. The run time's version would treat each byte as a character; this replacement makes
// both directions UTF-8, as in the rest of the program. A character beyond 16 bits becomes two units, one per call: the
// first call consumes all bytes but the last and leaves the second unit in the state.
extern "C" std::size_t mbrtowc(wchar_t* out, const char* text, std::size_t bytes, std::mbstate_t* state) {
  constexpr auto kInvalid = static_cast<std::size_t>(-1), kIncomplete = static_cast<std::size_t>(-2);
  if (text == nullptr) return 0;
  if (bytes == 0) return kIncomplete;
  if (state != nullptr && *state != 0) {
    if (out != nullptr) *out = static_cast<wchar_t>(*state);
    *state = 0;
    return 1;
  }
  const auto lead = static_cast<unsigned char>(*text);
  const std::size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length > bytes) return kIncomplete;
  wchar_t units[2] = {};
  const int count = ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, static_cast<int>(length), units, 2);
  if (count == 0 || (count == 2 && state == nullptr)) {
    errno = EILSEQ;
    return kInvalid;
  }
  if (out != nullptr) *out = units[0];
  if (count == 1) return lead == 0 ? 0 : length;
  *state = units[1];
  return length - 1;
}
