// WordPiece: greedy longest match, first a word-initial token, then continuations; or the unknown token.
#pragma once

#include <string>

#include "tokenizers/models/model.h"
#include "tokenizers/models/vocabulary.h"

namespace alate::tokenizers {

struct WordPieceRules {
  std::string unknown_token = "[UNK]";
  std::string continuing_prefix = "##";
  std::size_t max_input_chars_per_word = 100;  // longer words become the unknown token
};

class WordPiece final : public Model {
 public:
  /// `where` names the file in the error for a missing unknown token, which is thrown when it is needed.
  WordPiece(Vocabulary vocabulary, WordPieceRules rules, std::string_view where);

  void tokenize(std::string_view piece, std::vector<Token>& out) const override;
  std::optional<std::int32_t> token_to_id(std::string_view token) const override { return vocabulary_.id_of(token); }
  std::optional<std::string_view> id_to_token(std::int32_t id) const override { return vocabulary_.token_of(id); }
  std::size_t size() const override { return vocabulary_.size(); }

 private:
  std::int32_t unknown() const;

  Vocabulary vocabulary_;
  WordPieceRules rules_;
  std::string where_;
  std::optional<std::int32_t> unknown_;
  PrefixHash continuing_;
};

ModelPtr make_word_piece(const Json& part, std::string_view where);

}  // namespace alate::tokenizers
