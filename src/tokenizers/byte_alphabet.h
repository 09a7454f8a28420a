// Texts in the byte-level alphabet, where each byte is written as one code point.
#pragma once

#include <string>
#include <string_view>

#include "tokenizers/unicode/byte_characters.h"

namespace alate::tokenizers {

/// Appends the characters of the bytes, in UTF-8: one or two bytes for each.
void append_byte_characters(std::string& out, std::string_view bytes);

}  // namespace alate::tokenizers
