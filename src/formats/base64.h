// Base64 (RFC 4648, section 4): binary values in the text of files and answers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace alate::formats {

/// Decodes padded base64 of the standard alphabet into `bytes`, whose old contents go; false if the text is none.
bool decode_base64(std::string_view text, std::string& bytes);

/// Appends the bytes in the standard alphabet, with padding.
void append_base64(std::string& out, std::span<const std::byte> bytes);

/// Appends the numbers as little-endian float32, in base64.
void append_base64(std::string& out, std::span<const float> values);

}  // namespace alate::formats
