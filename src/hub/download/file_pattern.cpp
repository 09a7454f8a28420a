#include "hub/download/file_pattern.h"

#include <algorithm>

namespace alate::hub {
namespace {

// The length of a set at the start of `pattern`, "[...]"; 0 if it is no set, and the bracket means itself.
std::size_t set_length(std::string_view pattern) {
  std::size_t at = 1;
  if (at < pattern.size() && pattern[at] == '!') ++at;
  if (at < pattern.size() && pattern[at] == ']') ++at;  // a bracket that comes first is in the set
  const std::size_t end = pattern.find(']', at);
  return end == std::string_view::npos ? 0 : end + 1;
}

bool is_in_set(char c, std::string_view set) {
  const bool is_inverse = set.starts_with('!');
  if (is_inverse) set.remove_prefix(1);
  bool is_in = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (i + 2 < set.size() && set[i + 1] == '-') {
      is_in = is_in || (set[i] <= c && c <= set[i + 2]);
      i += 2;
    } else {
      is_in = is_in || set[i] == c;
    }
  }
  return is_in != is_inverse;
}

// Whether the byte matches the pattern's first element, which is no *, and the element's length.
bool matches_element(char c, std::string_view pattern, std::size_t& length) {
  length = 1;
  if (pattern.front() == '?') return true;
  if (pattern.front() == '[') {
    if (const std::size_t set = set_length(pattern); set > 0) {
      length = set;
      return is_in_set(c, pattern.substr(1, set - 2));
    }
  }
  return pattern.front() == c;
}

}  // namespace

bool matches_pattern(std::string_view name, std::string_view pattern) {
  const std::string folder = pattern.ends_with('/') ? std::string(pattern) + "*" : std::string();
  if (!folder.empty()) pattern = folder;
  // After a *, only the latest one is ever tried with more of the name.
  std::size_t at = 0, in_pattern = 0, star = std::string_view::npos, star_at = 0;
  while (at < name.size()) {
    std::size_t length = 0;
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      star_at = at;
    } else if (in_pattern < pattern.size() && matches_element(name[at], pattern.substr(in_pattern), length)) {
      ++at;
      in_pattern += length;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      at = ++star_at;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

bool matches_any(std::string_view name, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(patterns, [&](const std::string& each) { return matches_pattern(name, each); });
}

}  // namespace alate::hub
