#include "tokenizers/models/word_piece.h"

#include <algorithm>
#include <array>
#include <utility>

#include "alate/error.h"
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

 private:
  std::int32_t unknown() const;

  Vocabulary vocabulary_;
  WordPieceRules rules_;
  std::string where_;
  std::optional<std::int32_t> unknown_;
  PrefixHash continuing_;
};

WordPiece::WordPiece(Vocabulary vocabulary, WordPieceRules rules, std::string_view where)
    : vocabulary_(std::move(vocabulary)), rules_(std::move(rules)), where_(where) {
  unknown_ = vocabulary_.id_of(rules_.unknown_token);
  continuing_.add(rules_.continuing_prefix);
}

std::int32_t WordPiece::unknown() const {
  if (!unknown_.has_value())
    throw make_error(ErrorCode::corrupt, where_, ": the unknown token \"", rules_.unknown_token,
                     "\" is needed for a word but is not in the vocabulary");
  return *unknown_;
}

void WordPiece::tokenize(std::string_view piece, Scratch&, std::vector<Token>& out) const {
  const auto whole = [&] { return Token{unknown(), 0, static_cast<std::uint32_t>(piece.size())}; };
  const std::size_t limit = rules_.max_input_chars_per_word;
  if (piece.size() > limit && count_code_points(piece) > limit) {
    out.push_back(whole());
    return;
  }
  const std::size_t first_token = out.size();
  // Prefix hashes are kept for a window of bytes; a longer candidate is hashed directly.
  constexpr std::size_t kWindow = 64;
  std::array<PrefixHash, kWindow + 1> hashes;
  for (std::size_t begin = 0; begin < piece.size();) {
    const std::string_view head = begin == 0 ? std::string_view() : std::string_view(rules_.continuing_prefix);
    const std::size_t room = vocabulary_.longest() < head.size() ? 0 : vocabulary_.longest() - head.size();
    std::size_t length = std::min(piece.size() - begin, room);
    hashes[0] = begin == 0 ? PrefixHash() : continuing_;
    const std::size_t kept = std::min(length, kWindow);
    for (std::size_t i = 0; i < kept; ++i) hashes[i + 1] = PrefixHash(hashes[i]).add(piece[begin + i]);
    std::optional<std::int32_t> id;
    for (; length > 0; --length) {
      if (begin + length < piece.size() && !starts_code_point(piece[begin + length])) continue;
      const std::string_view tail = piece.substr(begin, length);
      const PrefixHash hash =
          length <= kWindow ? hashes[length] : PrefixHash(hashes[kWindow]).add(tail.substr(kWindow));
      id = vocabulary_.id_of(head, tail, hash.value());
      if (id.has_value()) break;
    }
    if (!id.has_value()) {
      out.resize(first_token);
      out.push_back(whole());
      return;
    }
    out.push_back({*id, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + length)});
    begin += length;
  }
}

}  // namespace

ModelPtr word_piece(Vocabulary vocabulary, WordPieceRules rules, std::string_view where) {
  return std::make_unique<WordPiece>(std::move(vocabulary), std::move(rules), where);
}

}  // namespace alate::tokenizers
