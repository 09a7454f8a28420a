// Character sets that the system can convert.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace alate::base {

/// Bytes in the character set that iconv calls `name`, as UTF-8; bytes that mean nothing there become U+FFFD. Nothing
/// where the system cannot convert it.
std::optional<std::string> convert_to_utf8(std::string_view bytes, const std::string& name);

}  // namespace alate::base
