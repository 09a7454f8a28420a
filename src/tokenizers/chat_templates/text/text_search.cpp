#include "tokenizers/chat_templates/text/text_search.h"

namespace alate::tokenizers::chat_templates {
namespace {

// Up to this length, the standard library's search compares few characters at each place.
constexpr std::size_t kShort = 24;

// The characters of a text, or those of the reversed text.
struct Characters {
  std::string_view text;
  bool is_reversed;
  char operator[](std::size_t i) const { return is_reversed ? text[text.size() - 1 - i] : text[i]; }
};

// For each prefix, the length of the longest proper prefix of it that is also its end.
std::vector<std::uint32_t> borders_of(const Characters& wanted) {
  std::vector<std::uint32_t> borders(wanted.text.size(), 0);
  std::uint32_t border = 0;
  for (std::size_t i = 1; i < borders.size(); ++i) {
    while (border > 0 && wanted[i] != wanted[border]) border = borders[border - 1];
    if (wanted[i] == wanted[border]) ++border;
    borders[i] = border;
  }
  return borders;
}

// The end of the first occurrence.
std::size_t find_end(const Characters& text, const Characters& wanted, const std::vector<std::uint32_t>& borders) {
  std::size_t matched = 0;
  for (std::size_t i = 0; i < text.text.size(); ++i) {
    while (matched > 0 && text[i] != wanted[matched]) matched = borders[matched - 1];
    if (text[i] == wanted[matched]) ++matched;
    if (matched == wanted.text.size()) return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace

TextSearch::TextSearch(std::string_view wanted) : wanted_(wanted) {
  if (wanted.size() <= kShort) return;
  borders_ = borders_of({wanted, false});
  reversed_borders_ = borders_of({wanted, true});
}

std::size_t TextSearch::find(std::string_view text, std::size_t from) const {
  if (borders_.empty()) return text.find(wanted_, from);
  if (from > text.size()) return std::string_view::npos;
  const std::size_t end = find_end({text.substr(from), false}, {wanted_, false}, borders_);
  return end == std::string_view::npos ? end : from + end - wanted_.size();
}

std::size_t TextSearch::find_last(std::string_view text) const {
  if (borders_.empty()) return text.rfind(wanted_);
  const std::size_t end = find_end({text, true}, {wanted_, true}, reversed_borders_);
  return end == std::string_view::npos ? end : text.size() - end;
}

}  // namespace alate::tokenizers::chat_templates
