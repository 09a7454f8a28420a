// Treatment of delimiters by splitting pre-tokenizers.
#pragma once

#include <cstdint>
#include <vector>

#include "tokenizers/pieces.h"

namespace alate::tokenizers {

/// "the-final--countdown" at '-': Removed: the, final, countdown. Isolated: the, -, final, -, -, countdown.
/// MergedWithPrevious: the-, final-, -, countdown. MergedWithNext: the, -final, -, -countdown.
/// Contiguous: the, -, final, --, countdown.
enum class Delimiters : std::uint8_t { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// One of the consecutive ranges that cover a piece; matching ranges are delimiters. Ranges may be empty.
struct Match {
  Piece range;
  bool is_delimiter;
};

/// Appends the pieces that result from one piece's matches, without empty ones.
void append_split(const std::vector<Match>& matches, Delimiters behavior, std::vector<Piece>& out);

}  // namespace alate::tokenizers
