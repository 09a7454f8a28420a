#include "apps/alate/help/text_columns.h"

#include "base/split_text.h"

namespace alate::app {

std::string wrapped(std::string_view text, std::size_t indent, std::size_t column, std::size_t width) {
  std::string out;
  bool is_line_empty = true;
  for (const std::string_view word : base::split_text(text, ' ')) {
    if (word.empty()) continue;
    if (!is_line_empty && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
      is_line_empty = true;
    }
    if (!is_line_empty) out += ' ';
    column += word.size() + (is_line_empty ? 0 : 1);
    out += word;
    is_line_empty = false;
  }
  return out;
}

std::string two_columns(std::string_view left, std::string_view right, std::size_t column) {
  std::string out = "  " + std::string(left);
  if (right.empty()) return out + "\n";
  if (out.size() + 2 <= column) {
    out.resize(column, ' ');
  } else {
    out += "\n" + std::string(column, ' ');
  }
  return out + wrapped(right, column, column) + "\n";
}

}  // namespace alate::app
