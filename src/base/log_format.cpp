#include "base/log_format.h"

#include <algorithm>
#include <cstdint>

#include "base/hidden_characters.h"

namespace alate::base {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The length in bytes of the first UTF-8 character of `text`; 0 if it is invalid (RFC 3629, section 4).
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                             : (first & 0xF0) == 0xE0         ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool too_large = first == 0xF4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

// REQUIRES: one valid character.
char32_t code_point_of(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first;
  char32_t code = first & (0x7FU >> character.size());
  for (const char next : character.substr(1)) code = code << 6U | (static_cast<unsigned char>(next) & 0x3FU);
  return code;
}

void append_unit(std::string& out, std::uint32_t unit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[unit >> static_cast<unsigned>(shift) & 15U];
}

// As JSON has it: two units of UTF-16 beyond U+FFFF.
void append_escape(std::string& out, char32_t code) {
  switch (code) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  if (code <= 0xFFFF) return append_unit(out, code);
  append_unit(out, 0xD800 + ((code - 0x10000) >> 10U));
  append_unit(out, 0xDC00 + ((code - 0x10000) & 0x3FFU));
}

// Invalid UTF-8 becomes U+FFFD; hidden characters are escaped, quotation marks and backslashes if asked for.
std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0) {
      out += kReplacement;
    } else if (const char32_t code = code_point_of(character); is_hidden(code)) {
      append_escape(out, code);
    } else {
      if (quotes && (character == "\"" || character == "\\")) out += '\\';
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

void append_pairs(std::string& out, std::span<const LogField> fields) {
  for (const LogField& field : fields) {
    out += ' ';
    out += field.key;
    out += '=';
    out += quoted_if_needed(field.value);
  }
}

}  // namespace

std::string json_quoted(std::string_view text) { return '"' + escaped(text, true) + '"'; }

std::string printable_line(std::string_view text) { return escaped(text, false); }

std::string quoted_if_needed(std::string_view text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return c > ' ' && c < 0x7F && c != '"' && c != '=' && c != '\\';
  });
  return plain ? std::string(text) : json_quoted(text);
}

std::string terminal_payload(std::string_view event, std::span<const LogField> fields, std::string_view sentence) {
  if (!sentence.empty()) return escaped(sentence, false);
  // An event is a constant sentence of the program; quoting only escapes characters that a terminal would interpret.
  std::string shown = json_quoted(event);
  std::string out = shown.size() == event.size() + 2 ? std::string(event) : shown;
  append_pairs(out, fields);
  return out;
}

std::string logfmt_payload(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  std::string out = "level=" + std::string(to_string(level)) + " event=" + quoted_if_needed(event);
  append_pairs(out, fields);
  return out;
}

std::string json_payload(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  std::string out = "\"level\":" + json_quoted(to_string(level)) + ",\"event\":" + json_quoted(event);
  for (const LogField& field : fields) out += "," + json_quoted(field.key) + ":" + json_quoted(field.value);
  return out;
}

}  // namespace alate::base
