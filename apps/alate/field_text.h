// Texts and numbers as fields of lines and tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace alate::app {

/// RFC 4180.
std::string csv_field(std::string_view text);
/// A text on one line: those of JSON lines may have line breaks.
std::string on_one_line(std::string_view text);
/// A text from a file on one line of a terminal: control characters, which could act on it, as "\x1b".
std::string terminal_text(std::string_view text);
/// Rows of fields in columns as wide as their widest field, with two blanks between them. Rows have one length.
std::string text_table(const std::vector<std::vector<std::string>>& rows);
/// "0.012345"
std::string rounded(float value);

}  // namespace alate::app
