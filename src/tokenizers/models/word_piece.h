// WordPiece: greedy longest match, first a word-initial token, then continuations; or the unknown token.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tokenizers/models/model.h"
#include "tokenizers/models/vocabulary.h"

namespace alate::tokenizers {

struct WordPieceRules {
  std::string unknown_token = "[UNK]";
  std::string continuing_prefix = "##";
  std::size_t max_input_chars_per_word = 100;  // longer words become the unknown token
};

/// `where` names the file in the error (corrupt) for a missing unknown token, which is thrown when it is needed.
ModelPtr word_piece(Vocabulary vocabulary, WordPieceRules rules, std::string_view where);

}  // namespace alate::tokenizers
