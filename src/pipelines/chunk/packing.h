// Joins pieces to chunks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pipelines/chunk/pieces.h"
#include "pipelines/chunk/token_map.h"

namespace alate::pipelines {

/// The tokens [first, end) of a chunk; those before `own` are repeated from the chunk before.
struct TokenRange {
  std::size_t first = 0, own = 0, end = 0;
};

struct PackingLimits {
  std::size_t target = 500;  // the most tokens of a chunk
  std::size_t overlap = 50;  // the most that it repeats of the chunk before in its group; less than target
  std::size_t max_chunks = ~std::size_t{0};
};

struct PackedChunks {
  std::vector<TokenRange> ranges;
  bool truncated = false;  // whether max_chunks left out pieces
};

/// Chunks of as many pieces as fit, in order; a piece that fits none is cut where one of `words` begins, if it can be.
/// Repeated tokens begin at one of `units`. `pieces` follow each other without gaps; `words` and `units` are tokens at
/// borders, ascending.
PackedChunks join_pieces(const TokenMap& map, std::span<const Piece> pieces, const PackingLimits& limits,
                         std::span<const std::size_t> words, std::span<const std::size_t> units);

}  // namespace alate::pipelines
