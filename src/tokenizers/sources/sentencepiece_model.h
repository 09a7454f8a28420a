// SentencePiece's model files, a protobuf message:
// https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace alate::tokenizers {

/// Views into the file. Values that the file leaves out have the schema's defaults.
struct SentencePieceModel {
  enum class Type { unigram = 1, bpe = 2, word = 3, character = 4 };
  enum class PieceType { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

  struct Piece {
    std::string_view text;  // UTF-8, not empty
    float score = 0;        // finite
    PieceType type = PieceType::normal;
  };

  std::vector<Piece> pieces;

  Type type = Type::unigram;
  bool byte_fallback = false;
  bool whitespace_as_suffix = false;
  std::int32_t unk_id = 0, bos_id = 1, eos_id = 2;
  std::string_view unk_piece = "<unk>", bos_piece = "<s>", eos_piece = "</s>";

  std::string_view charsmap;  // compiled rules of the normalizer; empty if it has none
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
};

/// Throws corrupt for bytes that are no such message, for pieces that are empty or not UTF-8, scores that are no
/// numbers and unknown types; resource_exhausted over kMaxPieces; with `what` (the file's name) and the reason.
SentencePieceModel parse_sentencepiece_model(std::span<const std::byte> file, std::string_view what);

inline constexpr std::size_t kMaxPieces = std::size_t{1} << 22;

}  // namespace alate::tokenizers
