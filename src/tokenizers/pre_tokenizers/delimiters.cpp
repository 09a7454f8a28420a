#include "tokenizers/pre_tokenizers/delimiters.h"

#include <algorithm>
#include <cstddef>

namespace alate::tokenizers {

void append_split(const std::vector<Match>& matches, Delimiters behavior, std::vector<Piece>& out) {
  const std::size_t first = out.size();
  bool previous = false;  // whether the previous match was a delimiter
  for (const auto& [range, is_delimiter] : matches) {
    bool joins = false;
    switch (behavior) {
      case Delimiters::removed:
        if (is_delimiter) continue;
        break;
      case Delimiters::isolated: break;
      case Delimiters::merged_with_previous: joins = is_delimiter && !previous; break;
      case Delimiters::merged_with_next: joins = !is_delimiter && previous; break;
      case Delimiters::contiguous: joins = is_delimiter == previous; break;
    }
    if (joins && out.size() > first) {
      out.back().end = range.end;
    } else {
      out.push_back(range);
    }
    previous = is_delimiter;
  }
  const auto begin = out.begin() + static_cast<std::ptrdiff_t>(first);
  out.erase(std::remove_if(begin, out.end(), [](const Piece& piece) { return piece.begin == piece.end; }), out.end());
}

}  // namespace alate::tokenizers
