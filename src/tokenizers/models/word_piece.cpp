#include "tokenizers/models/word_piece.h"

#include <optional>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "tokenizers/models/byte_trie.h"
#include "tokenizers/token_automaton.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

struct WordPieceScratch final : Model::Scratch {
  void trim() override {
    constexpr std::size_t kKept = std::size_t{1} << 16;
    if (continuing.capacity() > kKept) continuing = {};
  }

  std::vector<LongestToken> continuing;  // at each place of a long word
};

class WordPiece final : public Model {
 public:
  WordPiece(Vocabulary vocabulary, WordPieceRules rules, std::string_view where);

  std::unique_ptr<Scratch> make_scratch() const override { return std::make_unique<WordPieceScratch>(); }
  void tokenize(std::string_view piece, Scratch& scratch, std::vector<Token>& out) const override;
  std::optional<std::int32_t> token_to_id(std::string_view token) const override { return vocabulary_.id_of(token); }
  std::optional<std::string_view> id_to_token(std::int32_t id) const override { return vocabulary_.token_of(id); }
  std::size_t size() const override { return vocabulary_.size(); }
  std::optional<std::int32_t> unknown_id() const override { return unknown_; }
  std::string_view continuing_prefix() const override { return rules_.continuing_prefix; }

 private:
  std::int32_t unknown() const;
  LongestToken walk(std::uint32_t node, std::string_view text, WorkBudget& budget) const;

  Vocabulary vocabulary_;
  WordPieceRules rules_;
  std::string where_;
  std::optional<std::int32_t> unknown_;
  ByteTrie tokens_;
  std::optional<std::uint32_t> continuing_;  // the node after the prefix; none: no token has it
  TokenAutomaton long_continuing_;  // reversed continuing tokens, if trying each place of a long word may take long
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
  if (!continuing_.has_value() || vocabulary_.longest() <= TokenAutomaton::kLongestTried) return;
  const std::size_t prefix = rules_.continuing_prefix.size();
  TokenIds continuing;
  vocabulary_.for_each([&](std::string_view token, std::int32_t id) {
    if (token.size() > prefix && token.starts_with(rules_.continuing_prefix))
      continuing.emplace_back(token.substr(prefix), id);
  });
  long_continuing_ = TokenAutomaton(reversed(std::move(continuing)));
}

std::int32_t WordPiece::unknown() const {
  if (!unknown_.has_value())
    throw make_error(ErrorCode::corrupt, where_, ": the unknown token \"", rules_.unknown_token,
                     "\" is needed for a word but is not in the vocabulary");
  return *unknown_;
}

LongestToken WordPiece::walk(std::uint32_t node, std::string_view text, WorkBudget& budget) const {
  LongestToken longest;
  std::size_t at = 0;
  for (; at < text.size() && tokens_.step(node, text[at]); ++at) {
    if (tokens_.value(node) == ByteTrie::kNoValue) continue;
    longest = {tokens_.value(node), static_cast<std::uint32_t>(at + 1)};
  }
  budget.count_steps(at + 1);
  return longest;
}

void WordPiece::tokenize(std::string_view piece, Scratch& given, std::vector<Token>& out) const {
  auto& scratch = static_cast<WordPieceScratch&>(given);
  const auto whole = [&] { return Token{unknown(), 0, static_cast<std::uint32_t>(piece.size())}; };
  const std::size_t limit = rules_.max_input_chars_per_word;
  if (piece.size() > limit && count_code_points(piece) > limit) {
    out.push_back(whole());
    return;
  }
  const bool is_long = !long_continuing_.empty() && piece.size() > TokenAutomaton::kLongestTried;
  if (is_long) find_longest(long_continuing_, piece, scratch.continuing, *scratch.budget);
  const std::size_t first_token = out.size();
  for (std::size_t begin = 0; begin < piece.size();) {
    LongestToken token;
    if (begin == 0) {
      token = walk(ByteTrie::kRoot, piece, *scratch.budget);
    } else if (is_long) {
      token = scratch.continuing[begin];
    } else if (continuing_.has_value()) {
      token = walk(*continuing_, piece.substr(begin), *scratch.budget);
    }
    if (token.length == 0) {
      out.resize(first_token);
      out.push_back(whole());
      return;
    }
    const auto at = static_cast<std::uint32_t>(begin);
    out.push_back({token.id, at, at + token.length});
    begin += token.length;
  }
}

}  // namespace

ModelPtr word_piece(Vocabulary vocabulary, WordPieceRules rules, std::string_view where) {
  return std::make_unique<WordPiece>(std::move(vocabulary), std::move(rules), where);
}

}  // namespace alate::tokenizers
