// A normalized text cut into pieces, which pre-tokenizers split further and models turn into tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizers/aligned_text.h"

namespace alate::tokenizers {

inline constexpr std::int32_t kNoToken = -1;

/// A range of bytes of the normalized text, never empty. A piece that matched an added token has its id and is not
/// split further.
struct Piece {
  std::uint32_t begin;
  std::uint32_t end;
  std::int32_t token = kNoToken;
};

struct PieceList {
  AlignedText text;
  std::vector<Piece> pieces;
  /// Whether each byte of the pieces stands for its character of the byte-level alphabet (byte_alphabet.h), which has
  /// not been written. Added tokens are as they are.
  bool byte_level = false;

  /// Writes the characters, for parts that need them. Does nothing unless `byte_level`.
  void write_byte_characters();

  std::string_view text_of(const Piece& piece) const {
    return text.text().substr(piece.begin, piece.end - piece.begin);
  }
};

}  // namespace alate::tokenizers
