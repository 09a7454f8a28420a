// Treatment of delimiters by splitting pre-tokenizers.
#pragma once

#include <string_view>
#include <vector>

#include "tokenizers/json_fields.h"
#include "tokenizers/pieces.h"

namespace alate::tokenizers {

/// "the-final--countdown" at '-': Removed: the, final, countdown. Isolated: the, -, final, -, -, countdown.
/// MergedWithPrevious: the-, final-, -, countdown. MergedWithNext: the, -final, -, -countdown.
/// Contiguous: the, -, final, --, countdown.
enum class Delimiters { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// Throws corrupt for an unknown behaviour.
Delimiters parse_delimiters(std::string_view name, std::string_view where);

/// One of the consecutive ranges that cover a piece; matching ranges are delimiters.
struct Match {
  Piece range;
  bool is_delimiter;
};

/// Appends the pieces that result from one piece's matches.
void append_split(const std::vector<Match>& matches, Delimiters behavior, std::vector<Piece>& out);

}  // namespace alate::tokenizers
