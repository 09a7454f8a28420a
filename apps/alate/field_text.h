// Texts and numbers as fields of lines and tables.
#pragma once

#include <string>
#include <string_view>

namespace alate::app {

/// RFC 4180.
std::string csv_field(std::string_view text);
/// A text on one line: those of JSON lines may have line breaks.
std::string on_one_line(std::string_view text);
/// A text from a file on one line of a terminal: control characters, which could act on it, as "\x1b".
std::string terminal_text(std::string_view text);
/// "0.012345"
std::string rounded(float value);

}  // namespace alate::app
