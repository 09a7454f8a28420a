// Windows says things in UTF-16, Alate in UTF-8. For the files of this folder that are for Windows.
#pragma once

#include <string>
#include <string_view>

namespace alate::base {

/// What is no Unicode becomes U+FFFD.
std::string to_utf8(std::wstring_view text);
std::wstring to_utf16(std::string_view text);

/// What Windows says about an error's number, without the line's end; the number where it says nothing.
std::string windows_message(unsigned long error);

}  // namespace alate::base
