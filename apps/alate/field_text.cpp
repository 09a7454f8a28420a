#include "apps/alate/field_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "base/hidden_characters.h"
#include "formats/utf8.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::app {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field += '"';
}

namespace {

void append_hex(std::string& out, std::string_view prefix, std::uint32_t value, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += prefix;
  for (int i = digits - 1; i >= 0; --i) out += kDigits[value >> 4 * i & 15];
}

}  // namespace

std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return terminal_text(line);
}

std::string terminal_text(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t valid = formats::valid_utf8_prefix(text);
    for (std::size_t at = 0; at < valid;) {
      const tokenizers::CodePoint point = tokenizers::decode_utf8(text, at);
      if (base::is_control(point.value)) {
        append_hex(shown, "\\x", point.value, 2);
      } else if (base::is_direction(point.value)) {
        append_hex(shown, "\\u", point.value, 4);
      } else {
        shown += text.substr(at, point.length);
      }
      at += point.length;
    }
    text.remove_prefix(valid);
    if (text.empty()) break;
    append_hex(shown, "\\x", static_cast<unsigned char>(text.front()), 2);
    text.remove_prefix(1);
  }
  return shown;
}

std::string terminal_lines(std::string_view text) {
  std::string shown;
  for (;;) {
    const std::size_t end = text.find_first_of("\n\t");
    shown += terminal_text(text.substr(0, end));
    if (end == std::string_view::npos) return shown;
    shown += text[end];
    text.remove_prefix(end + 1);
  }
}

std::string counted(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] + 2 - row[i].size(), ' ');
    }
    text += "\n";
  }
  return text;
}

std::string rounded(float value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.6f", double{value});
  return text.data();
}

}  // namespace alate::app
