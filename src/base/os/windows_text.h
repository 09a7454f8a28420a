// Conversion between Windows' UTF-16 and Alate's UTF-8, for the Windows files of this folder.
#pragma once

#include <string>
#include <string_view>

namespace alate::base {

/// Invalid UTF-16 becomes U+FFFD.
std::string to_utf8(std::wstring_view text);
std::wstring to_utf16(std::string_view text);

/// Windows' message for an error number, without the line end; the number if there is no message.
std::string windows_message(unsigned long error);

}  // namespace alate::base
