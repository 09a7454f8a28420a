// Decoding and encoding of UTF-8, by code point.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace alate::tokenizers {

struct CodePoint {
  char32_t value;
  std::size_t length;  // in bytes
};

/// The code point that starts at `at`; the text must be valid UTF-8 and `at` the start of a code point in it.
inline CodePoint decode_utf8(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[at + i])); };
  const char32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  if (first < 0xE0) return {(first & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (first < 0xF0) return {(first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  return {(first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F), 4};
}

constexpr std::size_t utf8_length(char32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

/// True for the first byte of a code point.
constexpr bool starts_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

void append_utf8(std::string& out, char32_t c);

bool is_ascii(std::string_view text);

std::size_t count_code_points(std::string_view text);

/// The length of an unfinished code point at the end of the text, which further bytes may complete; at most 3.
std::size_t incomplete_utf8_tail(std::string_view text);

/// Nothing if the text is valid UTF-8; otherwise a copy with each maximal invalid part replaced by U+FFFD (as
/// recommended in section 3.9 of the Unicode Standard, and as Python's errors="replace" does).
std::optional<std::string> repair_utf8(std::string_view text);

}  // namespace alate::tokenizers
