#include "apps/alate/search/marked_text.h"

#include <array>
#include <cstddef>
#include <cstdio>

#include "apps/alate/field_text.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::app {

std::string shown_result(const SearchResult& result, bool is_terminal) {
  const std::string begin = is_terminal ? "\x1b[1m" : "*", end = is_terminal ? "\x1b[0m" : "*";
  std::array<char, 32> score{};
  std::snprintf(score.data(), score.size(), "%.3f", double{result.score});
  std::string shown = std::string(score.data()) + "  ";
  shown += terminal_text(result.file) + ":" + std::to_string(result.line) + "\n    ";
  auto span = result.spans.begin();
  std::size_t place = result.start;
  for (std::size_t at = 0; at < result.text.size(); ++place) {
    const tokenizers::CodePoint point = tokenizers::decode_utf8(result.text, at);
    if (span != result.spans.end() && place == span->first) shown += begin;
    const std::string_view character = std::string_view(result.text).substr(at, point.length);
    if (point.value != '\n' && point.value != '\r' && point.value != '\t') {
      shown += terminal_text(character);
    } else if (shown.back() != ' ') {
      shown += ' ';
    }
    at += point.length;
    if (span != result.spans.end() && place + 1 == span->second) {
      shown += end;
      ++span;
    }
  }
  return shown + "\n";
}

}  // namespace alate::app
