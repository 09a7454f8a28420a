// The pieces that chunks are made of, by method.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pipelines/chunk/token_map.h"

namespace alate::pipelines {

/// The tokens [first, end). Pieces of different groups are not joined.
struct Piece {
  std::size_t first = 0, end = 0;
  std::size_t group = 0;
};

/// The tokens at which units begin, from their byte offsets: ascending, each once, at borders of tokens, without 0 and
/// the number of tokens.
std::vector<std::size_t> tokens_at(const TokenMap& map, std::span<const std::size_t> bytes);

/// All tokens between these, one group.
std::vector<Piece> pieces_between(const TokenMap& map, std::span<const std::size_t> starts);

/// The pieces of the method recursive: each fits `target` tokens, or is a sentence.
std::vector<Piece> structural_pieces(const TokenMap& map, std::size_t target);

}  // namespace alate::pipelines
