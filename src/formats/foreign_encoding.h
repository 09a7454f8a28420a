// Recognizes input texts in an encoding other than UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace alate::formats {

/// Removes the byte order mark of UTF-8 from the start of a text.
std::string_view without_byte_order_mark(std::string_view text);

/// iconv's name of the encoding of a text that evidently is UTF-16 or UTF-32, by its byte order mark and its zero
/// bytes; empty for other texts. `start` is the first part of the text.
std::string_view foreign_encoding(std::string_view start);

/// Whether a text begins with the byte order mark of UTF-16, which is not UTF-8.
bool has_utf16_mark(std::string_view text);

/// "convert it with iconv -f UTF-16 -t UTF-8".
std::string conversion_advice(std::string_view encoding);

}  // namespace alate::formats
