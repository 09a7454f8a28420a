#include "tokenizers/models/word_piece.h"

#include <algorithm>
#include <array>
#include <utility>

#include "alate/error.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {

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

void WordPiece::tokenize(std::string_view piece, std::vector<Token>& out) const {
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

ModelPtr make_word_piece(const Json& part, std::string_view where) {
  WordPieceRules rules;
  rules.unknown_token = string_member(part, "unk_token", where);
  rules.continuing_prefix = string_member(part, "continuing_subword_prefix", where);
  rules.max_input_chars_per_word = static_cast<std::size_t>(count_member(part, "max_input_chars_per_word", where));
  const Json::Object& tokens = object_member(part, "vocab", where);
  const std::string entry = std::string(where) + ".vocab";
  Vocabulary vocabulary;
  vocabulary.reserve(tokens.size());
  for (const auto& [token, id] : tokens) vocabulary.add(token, as_count(id, entry));
  vocabulary.finish();
  return std::make_unique<WordPiece>(std::move(vocabulary), std::move(rules), where);
}

}  // namespace alate::tokenizers
