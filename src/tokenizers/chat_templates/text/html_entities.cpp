#include "tokenizers/chat_templates/text/html_entities.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

struct Entity {
  const char* name;
  const char* text;
};

#include "tokenizers/chat_templates/text/html_entities.inc"

const char* find_entity(std::string_view name) {
  const auto name_of = [](const Entity& entity) { return std::string_view(entity.name); };
  const Entity* found = std::ranges::lower_bound(kEntities, name, {}, name_of);
  return found != std::end(kEntities) && found->name == name ? found->text : nullptr;
}

// The numbers 0x80 to 0x9F stand for the characters of Windows-1252; 0 where that has none.
constexpr char32_t kWindows[] = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
                                 0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
                                 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

bool is_no_character(char32_t c) {
  return (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || (c >= 0xFDD0 && c <= 0xFDEF) ||
         (c & 0xFFFE) == 0xFFFE;
}

void append_numbered(std::string& out, char32_t c) {
  constexpr char32_t kReplacement = 0xFFFD;
  if (c >= 0x80 && c <= 0x9F) {
    append_utf8(out, kWindows[c - 0x80] == 0 ? c : kWindows[c - 0x80]);
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
  const std::string_view name = text.substr(at, end - at);
  // The longest name that the text begins with, as HTML defines it.
  for (std::size_t size = name.size(); size >= 2; --size) {
    if (const char* meaning = find_entity(name.substr(0, size))) {
      out += meaning;
      return at + size;
    }
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
