// Unigram: the most probable segmentation of a piece (Viterbi), after SentencePiece.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/models/model.h"

namespace alate::tokenizers {

struct UnigramPiece {
  std::string text;
  double score;  // log probability
};

/// A token's id is its position. A text that occurs twice has the last position. With `byte_fallback`, an unknown run
/// of characters becomes the tokens "<0xXX>" of its bytes, if all are there. `where` names the file in errors. Throws
/// corrupt if unk_id is not below the number of pieces; tokenizing throws corrupt if an unknown character occurs and
/// there is no unk_id.
ModelPtr unigram(const std::vector<UnigramPiece>& pieces, std::optional<std::size_t> unk_id, bool byte_fallback,
                 std::string_view where);

}  // namespace alate::tokenizers
