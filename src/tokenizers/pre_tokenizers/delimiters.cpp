#include "tokenizers/pre_tokenizers/delimiters.h"

#include <cstddef>

#include "alate/error.h"

namespace alate::tokenizers {

Delimiters parse_delimiters(std::string_view name, std::string_view where) {
  if (name == "Removed") return Delimiters::removed;
  if (name == "Isolated") return Delimiters::isolated;
  if (name == "MergedWithPrevious") return Delimiters::merged_with_previous;
  if (name == "MergedWithNext") return Delimiters::merged_with_next;
  if (name == "Contiguous") return Delimiters::contiguous;
  throw make_error(ErrorCode::corrupt, where, ": \"", name, "\" is no behavior of a split");
}

void append_split(const std::vector<Match>& matches, Delimiters behavior, std::vector<Piece>& out) {
  const std::size_t first = out.size();
  bool previous = false;  // whether the previous match was a delimiter
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const auto& [range, is_delimiter] = matches[i];
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
}

}  // namespace alate::tokenizers
