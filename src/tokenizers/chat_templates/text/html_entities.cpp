#include "tokenizers/chat_templates/text/html_entities.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "tokenizers/unicode/named_references.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

bool is_no_character(char32_t c) {
  return (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || (c >= 0xFDD0 && c <= 0xFDEF) ||
         (c & 0xFFFE) == 0xFFFE;
}

void append_numbered(std::string& out, char32_t c) {
  constexpr char32_t kReplacement = 0xFFFD;
  if (c >= 0x80 && c <= 0x9F) {
    append_utf8(out, numbered_character(c));
  } else if (c == 0 || (c >= 0xD800 && c <= 0xDFFF) || c > 0x10FFFF) {
    append_utf8(out, kReplacement);
  } else if (!is_no_character(c)) {
    append_utf8(out, c);
  }
}

int digit_of(char c, int base) {
  const int lower = c | 32;
  const int value = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
  return value < base ? value : -1;
}

// After the reference whose "&#" ends before `at`; nothing if it has no digits.
std::optional<std::size_t> append_number(std::string& out, std::string_view text, std::size_t at) {
  const bool is_hexadecimal = at < text.size() && (text[at] == 'x' || text[at] == 'X');
  const int base = is_hexadecimal ? 16 : 10;
  const std::size_t begin = at + (is_hexadecimal ? 1 : 0);
  char32_t value = 0;
  std::size_t end = begin;
  for (; end < text.size() && digit_of(text[end], base) >= 0; ++end) {
    constexpr char32_t kTooLarge = 0x110000;
    value = std::min<char32_t>(value * static_cast<char32_t>(base) + static_cast<char32_t>(digit_of(text[end], base)),
                               kTooLarge);
  }
  if (end == begin) return std::nullopt;
  append_numbered(out, value);
  return end < text.size() && text[end] == ';' ? end + 1 : end;
}

// After the name that begins at `at`: up to 32 characters, and a ';'.
std::size_t end_of_name(std::string_view text, std::size_t at) {
  constexpr std::string_view kEnds = "\t\n\f <&#;";
  constexpr std::size_t kMaxCharacters = 32;
  for (std::size_t i = 0; i < kMaxCharacters && at < text.size(); ++i) {
    if (kEnds.find(text[at]) != std::string_view::npos) break;
    at += decode_utf8(text, at).length;
  }
  return at;
}

std::size_t append_named(std::string& out, std::string_view text, std::size_t at) {
  std::size_t end = end_of_name(text, at);
  if (end > at && end < text.size() && text[end] == ';') ++end;
  if (const NamedReference* found = longest_named_reference(text.substr(at, end - at))) {
    found->append_to(out);
    return at + found->name.size();
  }
  out += '&';
  return at;
}

}  // namespace

std::string without_references(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t reference = std::min(text.find('&', at), text.size());
    out += text.substr(at, reference - at);
    if (reference == text.size()) break;
    at = reference + 1;
    if (at < text.size() && text[at] == '#') {
      const std::optional<std::size_t> end = append_number(out, text, at + 1);
      if (!end) out += '&';
      at = end.value_or(at);
    } else {
      at = append_named(out, text, at);
    }
  }
  return out;
}

}  // namespace alate::tokenizers::chat_templates
