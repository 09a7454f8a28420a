#include "tokenizers/models/word_piece.h"

#include <optional>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "tokenizers/models/byte_trie.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

class WordPiece final : public Model {
 public:
  WordPiece(Vocabulary vocabulary, WordPieceRules rules, std::string_view where);

  void tokenize(std::string_view piece, Scratch& scratch, std::vector<Token>& out) const override;
  std::optional<std::int32_t> token_to_id(std::string_view token) const override { return vocabulary_.id_of(token); }
  std::optional<std::string_view> id_to_token(std::int32_t id) const override { return vocabulary_.token_of(id); }
  std::size_t size() const override { return vocabulary_.size(); }
  std::optional<std::int32_t> unknown_id() const override { return unknown_; }
  std::string_view continuing_prefix() const override { return rules_.continuing_prefix; }

 private:
  std::int32_t unknown() const;

  Vocabulary vocabulary_;
  WordPieceRules rules_;
  std::string where_;
  std::optional<std::int32_t> unknown_;
  ByteTrie tokens_;
  std::optional<std::uint32_t> continuing_;  // the node after the prefix; none: no token has it
};

WordPiece::WordPiece(Vocabulary vocabulary, WordPieceRules rules, std::string_view where)
    : vocabulary_(std::move(vocabulary)), rules_(std::move(rules)), where_(where) {
  unknown_ = vocabulary_.id_of(rules_.unknown_token);
  std::vector<std::pair<std::string_view, std::int32_t>> keys;
  keys.reserve(vocabulary_.size());
  vocabulary_.for_each([&](std::string_view token, std::int32_t id) { keys.emplace_back(token, id); });
  tokens_ = ByteTrie(keys);
  continuing_ = ByteTrie::kRoot;
  for (const char byte : rules_.continuing_prefix) {
    if (continuing_.has_value() && !tokens_.step(*continuing_, byte)) continuing_.reset();
  }
}

std::int32_t WordPiece::unknown() const {
  if (!unknown_.has_value())
    throw make_error(ErrorCode::corrupt, where_, ": the unknown token \"", rules_.unknown_token,
                     "\" is needed for a word but is not in the vocabulary");
  return *unknown_;
}

void WordPiece::tokenize(std::string_view piece, Scratch& scratch, std::vector<Token>& out) const {
  const auto whole = [&] { return Token{unknown(), 0, static_cast<std::uint32_t>(piece.size())}; };
  const std::size_t limit = rules_.max_input_chars_per_word;
  if (piece.size() > limit && count_code_points(piece) > limit) {
    out.push_back(whole());
    return;
  }
  const std::size_t first_token = out.size();
  for (std::size_t begin = 0; begin < piece.size();) {
    std::int32_t id = ByteTrie::kNoValue;
    std::size_t end = begin;
    if (begin == 0 || continuing_.has_value()) {
      std::uint32_t node = begin == 0 ? ByteTrie::kRoot : *continuing_;
      std::size_t at = begin;
      for (; at < piece.size() && tokens_.step(node, piece[at]); ++at) {
        if (tokens_.value(node) == ByteTrie::kNoValue) continue;
        id = tokens_.value(node);
        end = at + 1;
      }
      scratch.budget->count_steps(at - begin);
    }
    if (id == ByteTrie::kNoValue) {
      out.resize(first_token);
      out.push_back(whole());
      return;
    }
    out.push_back({id, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
    begin = end;
  }
}

}  // namespace

ModelPtr word_piece(Vocabulary vocabulary, WordPieceRules rules, std::string_view where) {
  return std::make_unique<WordPiece>(std::move(vocabulary), std::move(rules), where);
}

}  // namespace alate::tokenizers
