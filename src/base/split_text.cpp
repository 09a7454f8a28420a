#include "base/split_text.h"

#include <algorithm>

#include "alate/error.h"

namespace alate::base {

std::vector<std::string_view> split_text(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(separator, from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

namespace {

constexpr std::string_view kSpaces = " \t\n\v\f\r";

std::string_view without_spaces(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// Where the quotes that `list` begins with end: after the second one.
std::size_t end_of_quotes(std::string_view list) {
  for (std::size_t at = list.find('"', 1); at != std::string_view::npos; at = list.find('"', at + 2)) {
    if (list.substr(at + 1, 1) != "\"") return at + 1;
  }
  throw Error(ErrorCode::invalid_argument, "has an entry with an opening quote and no closing one");
}

// What is between the quotes.
std::string unquoted(std::string_view quoted) {
  std::string text;
  for (std::size_t at = 1; at + 1 < quoted.size(); ++at) {
    text += quoted[at];
    if (quoted[at] == '"') ++at;
  }
  return text;
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> entries;
  for (std::string_view rest = text; !rest.empty();) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kSpaces), rest.size()));
    const std::size_t quotes = rest.starts_with('"') ? end_of_quotes(rest) : 0;
    const std::size_t end = std::min(rest.find(',', quotes), rest.size());
    const std::string_view entry = without_spaces(rest.substr(0, end));
    if (quotes > 0 && entry.size() > quotes)
      throw Error(ErrorCode::invalid_argument,
                  "has an entry that goes on after its closing quote; put all of it into quotes");
    if (!entry.empty()) entries.push_back(quotes > 0 ? unquoted(entry) : std::string(entry));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return entries;
}

}  // namespace alate::base
