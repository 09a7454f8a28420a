#include "apps/alate/field_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace alate::app {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field += '"';
}

std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return line;
}

std::string rounded(float value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.6f", double{value});
  return text.data();
}

}  // namespace alate::app
