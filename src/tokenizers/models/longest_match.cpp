#include "tokenizers/models/longest_match.h"

#include <utility>

#include "alate/error.h"
#include "tokenizers/byte_alphabet.h"
#include "tokenizers/models/byte_trie.h"
#include "tokenizers/models/vocabulary.h"

namespace alate::tokenizers {
namespace {

class LongestMatch final : public Model {
 public:
  LongestMatch(ByteTrie trie, Vocabulary vocabulary, std::string_view where)
      : trie_(std::move(trie)), vocabulary_(std::move(vocabulary)), where_(where) {}

  // Linear in the piece's length times the longest token's.
  void tokenize(std::string_view piece, Scratch& scratch, std::vector<Token>& out) const override {
    for (std::size_t at = 0; at < piece.size();) {
      std::uint32_t node = ByteTrie::kRoot;
      std::size_t end = at;
      std::int32_t id = ByteTrie::kNoValue;
      std::size_t next = at;
      while (next < piece.size() && trie_.step(node, piece[next])) {
        ++next;
        if (const std::int32_t value = trie_.value(node); value != ByteTrie::kNoValue) {
          id = value;
          end = next;
        }
      }
      scratch.budget->count_steps(next - at + 1);
      if (id == ByteTrie::kNoValue)
        throw make_error(ErrorCode::corrupt, where_, ": no token of the vocabulary fits a byte of the text");
      out.push_back({id, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)});
      at = end;
    }
  }

  std::optional<std::int32_t> token_to_id(std::string_view token) const override { return vocabulary_.id_of(token); }
  std::optional<std::string_view> id_to_token(std::int32_t id) const override { return vocabulary_.token_of(id); }
  std::size_t size() const override { return vocabulary_.size(); }

 private:
  ByteTrie trie_;
  Vocabulary vocabulary_;
  std::string where_;
};

}  // namespace

ModelPtr longest_match(const std::vector<std::string>& tokens, std::string_view where) {
  std::vector<std::pair<std::string_view, std::int32_t>> keys;
  keys.reserve(tokens.size());
  Vocabulary vocabulary;
  vocabulary.reserve(tokens.size());
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    if (!tokens[i].empty()) keys.emplace_back(tokens[i], id);
    text.clear();
    append_byte_characters(text, tokens[i]);
    vocabulary.add(text, id);
  }
  vocabulary.finish();
  return std::make_unique<LongestMatch>(ByteTrie(keys), std::move(vocabulary), where);
}

}  // namespace alate::tokenizers
