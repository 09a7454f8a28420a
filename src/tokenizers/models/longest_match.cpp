#include "tokenizers/models/longest_match.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "alate/error.h"
#include "tokenizers/byte_alphabet.h"
#include "tokenizers/models/byte_trie.h"
#include "tokenizers/models/vocabulary.h"
#include "tokenizers/token_automaton.h"

namespace alate::tokenizers {
namespace {

struct LongestMatchScratch final : Model::Scratch {
  void trim() override {
    constexpr std::size_t kKept = std::size_t{1} << 16;
    if (longest.capacity() > kKept) longest = {};
  }

  std::vector<LongestToken> longest;
};

class LongestMatch final : public Model {
 public:
  /// One of `trie` and `long_tokens`, which are reversed, is empty.
  LongestMatch(ByteTrie trie, TokenAutomaton long_tokens, Vocabulary vocabulary, std::string_view where)
      : trie_(std::move(trie)),
        long_tokens_(std::move(long_tokens)),
        vocabulary_(std::move(vocabulary)),
        where_(where) {}

  std::unique_ptr<Scratch> make_scratch() const override { return std::make_unique<LongestMatchScratch>(); }

  void tokenize(std::string_view piece, Scratch& given, std::vector<Token>& out) const override {
    auto& scratch = static_cast<LongestMatchScratch&>(given);
    if (long_tokens_.empty()) {
      try_each_place(piece, scratch, out);
      return;
    }
    find_longest(long_tokens_, piece, scratch.longest, *scratch.budget);
    for (std::size_t at = 0; at < piece.size();) {
      const LongestToken& token = scratch.longest[at];
      if (token.length == 0) throw_unfit();
      out.push_back({token.id, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + token.length)});
      at += token.length;
    }
  }

  std::optional<std::int32_t> token_to_id(std::string_view token) const override { return vocabulary_.id_of(token); }
  std::optional<std::string_view> id_to_token(std::int32_t id) const override { return vocabulary_.token_of(id); }
  std::size_t size() const override { return vocabulary_.size(); }

 private:
  void try_each_place(std::string_view piece, Scratch& scratch, std::vector<Token>& out) const {
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
      if (id == ByteTrie::kNoValue) throw_unfit();
      out.push_back({id, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)});
      at = end;
    }
  }

  [[noreturn]] void throw_unfit() const {
    throw make_error(ErrorCode::corrupt, where_, ": no token of the vocabulary fits a byte of the text");
  }

  ByteTrie trie_;
  TokenAutomaton long_tokens_;
  Vocabulary vocabulary_;
  std::string where_;
};

}  // namespace

ModelPtr longest_match(const std::vector<std::string>& tokens, std::string_view where) {
  Vocabulary vocabulary;
  vocabulary.reserve(tokens.size());
  std::string text;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    text.clear();
    append_byte_characters(text, tokens[i]);
    vocabulary.add(text, id);
    longest = std::max(longest, tokens[i].size());
  }
  vocabulary.finish();
  // Of equal tokens the last one is meant, as in the vocabulary.
  if (longest <= TokenAutomaton::kLongestTried) {
    std::vector<std::pair<std::string_view, std::int32_t>> keys;
    keys.reserve(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) keys.emplace_back(tokens[i], static_cast<std::int32_t>(i));
    return std::make_unique<LongestMatch>(ByteTrie(keys), TokenAutomaton(), std::move(vocabulary), where);
  }
  std::unordered_map<std::string_view, std::int32_t> last;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].empty()) last.insert_or_assign(tokens[i], static_cast<std::int32_t>(i));
  }
  TokenIds keys(last.begin(), last.end());
  return std::make_unique<LongestMatch>(ByteTrie(), TokenAutomaton(reversed(std::move(keys))), std::move(vocabulary),
                                        where);
}

}  // namespace alate::tokenizers
