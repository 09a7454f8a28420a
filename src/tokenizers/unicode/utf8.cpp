#include "tokenizers/unicode/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "formats/utf8.h"

namespace alate::tokenizers {
namespace {

// The length of the invalid part at the start of the text: the valid beginning of a code point, or one byte. Table 3-7
// of the Unicode Standard: the second byte's range depends on the first.
std::size_t invalid_part(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0xC2 || first > 0xF4) return 1;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  std::size_t i = 1;
  for (; i < std::min(length, text.size()); ++i) {
    if (byte(i) < (i == 1 ? low : 0x80) || byte(i) > (i == 1 ? high : 0xBF)) break;
  }
  return i;
}

// The length of the code point that starts with this byte; 1 for a byte that starts none.
std::size_t stated_length(char byte) {
  const auto first = static_cast<unsigned char>(byte);
  return first < 0xC2 || first > 0xF4 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

}  // namespace

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

bool is_ascii(std::string_view text) {
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, text.data() + i, 8);
    if ((eight & 0x8080808080808080u) != 0) return false;
  }
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(i), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::size_t incomplete_utf8_tail(std::string_view text) {
  for (std::size_t length = 1; length <= std::min<std::size_t>(3, text.size()); ++length) {
    const std::string_view tail = text.substr(text.size() - length);
    if (!starts_code_point(tail.front())) continue;
    return stated_length(tail.front()) > length && invalid_part(tail) == length ? length : 0;
  }
  return 0;
}

std::optional<std::string> repair_utf8(std::string_view text) {
  if (is_ascii(text)) return std::nullopt;
  std::size_t valid = formats::valid_utf8_prefix(text);
  if (valid == text.size()) return std::nullopt;
  std::string repaired;
  while (valid < text.size()) {
    repaired += text.substr(0, valid);
    append_utf8(repaired, 0xFFFD);
    text.remove_prefix(valid);
    text.remove_prefix(invalid_part(text));
    valid = formats::valid_utf8_prefix(text);
  }
  return repaired += text;
}

}  // namespace alate::tokenizers
