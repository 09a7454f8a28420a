#include "formats/json_members.h"

#include <algorithm>

namespace alate::formats {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kBlanks, at), text.size());
}

// Behind the string that begins at `at`.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

// Behind the value that begins at `at`.
std::size_t skip_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at;
    } else if (depth > 0 && (c == '}' || c == ']')) {
      --depth;
      ++at;
    } else if (depth > 0 && (c == ',' || c == ':' || kBlanks.find(c) != std::string_view::npos)) {
      ++at;
    } else {
      at = std::min(text.find_first_of(",:]} \t\r\n", at), text.size());  // a number, true, false or null
    }
    if (depth == 0) return at;
  }
  return at;
}

}  // namespace

std::vector<std::string_view> json_member_texts(std::string_view object) {
  std::vector<std::string_view> members;
  std::size_t at = std::min(object.find('{'), object.size());
  while (at < object.size()) {
    const std::size_t begin = skip_blanks(object, at + 1);
    if (begin >= object.size() || object[begin] != '"') break;  // the end of an object without members
    const std::size_t colon = skip_blanks(object, skip_string(object, begin));
    const std::size_t end = skip_value(object, skip_blanks(object, colon + 1));
    members.push_back(object.substr(begin, end - begin));
    at = skip_blanks(object, end);
    if (at < object.size() && object[at] != ',') break;
  }
  return members;
}

}  // namespace alate::formats
