// Texts and numbers as fields of lines and tables.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace alate::app {

/// RFC 4180.
std::string csv_field(std::string_view text);
/// A text on one line, as terminal_text, with spaces for line breaks and tabs, which those of JSON lines may have.
std::string on_one_line(std::string_view text);
/// A text of anyone's on one line of a terminal. What could act on the terminal, or show other letters in another
/// order, is escaped: control characters and bytes that are not UTF-8 as "\x1b", changes of the writing direction as
/// "\u202e".
std::string terminal_text(std::string_view text);
/// The same for a text of several lines: line feeds and tabs stay.
std::string terminal_lines(std::string_view text);
/// "1 file", "2 files"
std::string counted(std::size_t count, std::string_view what);
/// Rows of fields in columns as wide as their widest field, with two blanks between them. Rows have one length.
std::string text_table(const std::vector<std::vector<std::string>>& rows);
/// "0.012345"
std::string rounded(float value);

}  // namespace alate::app
