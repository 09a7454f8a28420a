#include "tokenizers/models/bpe.h"

#include <algorithm>
#include <array>
#include <span>

#include "alate/error.h"
#include "formats/json.h"
#include "tokenizers/byte_alphabet.h"
#include "tokenizers/models/byte_tokens.h"
#include "tokenizers/models/merge_table.h"
#include "tokenizers/models/symbol_merger.h"
#include "tokenizers/models/word_cache.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

constexpr std::int32_t kMissing = -1;
constexpr std::size_t kMaxMarkBytes = 256;  // of a prefix or suffix, which is looked up with every character
constexpr std::string_view kWordMark = "\xE2\x96\x81";  // U+2581, which SentencePiece writes for a space

struct BpeScratch final : Model::Scratch {
  void trim() override { symbols.trim(); }

  WordCache texts;
  WordCache bytes;
  SymbolMerger symbols;
  std::string text;
};

class Bpe final : public Model {
 public:
  Bpe(Vocabulary vocabulary, const MergeList& merges, const BpeOptions& options, std::string_view where);

  std::unique_ptr<Scratch> make_scratch() const override { return std::make_unique<BpeScratch>(); }
  void tokenize(std::string_view piece, Scratch& scratch, std::vector<Token>& out) const override;
  bool reads_bytes() const override { return true; }
  void tokenize_bytes(std::string_view bytes, Scratch& scratch, std::vector<Token>& out) const override;

  std::optional<std::int32_t> token_to_id(std::string_view token) const override { return vocabulary_.id_of(token); }
  std::optional<std::string_view> id_to_token(std::int32_t id) const override { return vocabulary_.token_of(id); }
  std::size_t size() const override { return vocabulary_.size(); }
  std::optional<std::int32_t> unknown_id() const override {
    return unknown_ == kMissing ? std::nullopt : std::optional(unknown_);
  }
  std::string_view continuing_prefix() const override { return options_.continuing_subword_prefix; }

 private:
  void add_merges(const MergeList& merges);
  void find_characters();
  void find_cuts(const MergeList& merges);

  std::int32_t id_or_missing(std::string_view token) const { return vocabulary_.id_of(token).value_or(kMissing); }
  void tokenize_word(std::string_view word, BpeScratch& scratch, std::vector<Token>& out) const;
  void merge_word(std::string_view word, BpeScratch& scratch, std::vector<Token>& out) const;
  std::int32_t character_id(std::string_view character, bool is_first, bool is_last, std::string& marked) const;
  bool add_byte_tokens(std::string_view text, SymbolMerger& symbols) const;
  std::int32_t unknown() const;

  Vocabulary vocabulary_;
  MergeTable merges_;
  BpeOptions options_;
  std::string where_;
  std::int32_t unknown_ = kMissing;
  bool marks_characters_ = false;  // by a prefix or a suffix
  bool exact_order_ = false;
  bool has_all_bytes_ = false;  // every byte's character is a token
  bool cuts_at_word_mark_ = false;
  std::array<bool, 256> joins_word_mark_{};             // last bytes of characters that some token has before the mark
  std::array<std::int32_t, 128> ascii_ids_{};           // of characters, where they are not marked
  std::array<std::int32_t, 256> byte_character_ids_{};  // of the characters of the byte-level alphabet
  std::optional<ByteTokens> byte_tokens_;
};

Bpe::Bpe(Vocabulary vocabulary, const MergeList& merges, const BpeOptions& options, std::string_view where)
    : vocabulary_(std::move(vocabulary)), options_(options), where_(where) {
  exact_order_ = !vocabulary_.has_unique_ids();
  for (const std::string& mark : {options_.continuing_subword_prefix, options_.end_of_word_suffix}) {
    if (mark.size() > kMaxMarkBytes)
      throw make_error(ErrorCode::resource_exhausted, where_, ": the prefix or suffix of its tokens has ", mark.size(),
                       " bytes; ", kMaxMarkBytes, " are allowed");
  }
  marks_characters_ = !options_.continuing_subword_prefix.empty() || !options_.end_of_word_suffix.empty();
  add_merges(merges);
  if (options_.unk_token.has_value()) unknown_ = id_or_missing(*options_.unk_token);
  if (options_.byte_fallback) byte_tokens_.emplace([&](std::string_view token) { return vocabulary_.id_of(token); });
  find_characters();
  find_cuts(merges);
}

// In groups, since most of the time is waiting for the vocabulary's memory.
void Bpe::add_merges(const MergeList& merges) {
  constexpr std::size_t kGroup = 16;
  struct Names {
    std::array<std::string_view, 3> tokens;  // left, right, merged
    std::array<std::uint64_t, 3> prepared;
    std::array<std::int32_t, 3> ids;
  };
  std::array<Names, kGroup> group;
  std::array<std::string, kGroup> without_prefix;
  const std::size_t prefix = options_.continuing_subword_prefix.size();
  merges_.reserve(merges.size());
  for (std::size_t first = 0; first < merges.size(); first += kGroup) {
    const std::size_t count = std::min(kGroup, merges.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      Names& names = group[i];
      names.tokens = {merges.left(first + i), merges.right(first + i), merges.joined(first + i)};
      if (prefix > 0) {
        if (names.tokens[1].size() < prefix)
          throw make_error(ErrorCode::corrupt, where_, ": the token ", formats::quoted_name(names.tokens[1]),
                           " of a merge is shorter than the continuing_subword_prefix");
        without_prefix[i] = names.tokens[0];
        without_prefix[i] += names.tokens[1].substr(prefix);
        names.tokens[2] = without_prefix[i];
      }
      if (names.tokens[1].size() == prefix) exact_order_ = true;
      for (std::size_t part = 0; part < 3; ++part) names.prepared[part] = vocabulary_.prepare(names.tokens[part]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t part = 0; part < 3; ++part) {
        const auto id = vocabulary_.id_of(group[i].tokens[part], group[i].prepared[part]);
        if (!id.has_value())
          throw make_error(ErrorCode::corrupt, where_, ": a merge needs the token ",
                           formats::quoted_name(group[i].tokens[part]), ", which is not in the vocabulary");
        group[i].ids[part] = *id;
      }
      merges_.prepare(group[i].ids[0], group[i].ids[1]);
    }
    for (std::size_t i = 0; i < count; ++i) merges_.add(group[i].ids[0], group[i].ids[1], group[i].ids[2]);
  }
}

void Bpe::find_characters() {
  for (std::size_t c = 0; c < ascii_ids_.size(); ++c) {
    const auto character = static_cast<char>(c);
    ascii_ids_[c] = id_or_missing({&character, 1});
  }
  has_all_bytes_ = !marks_characters_;
  for (std::size_t byte = 0; byte < byte_character_ids_.size(); ++byte) {
    std::string character;
    append_utf8(character, byte_character(static_cast<unsigned char>(byte)));
    byte_character_ids_[byte] = id_or_missing(character);
    if (byte_character_ids_[byte] == kMissing && byte < 0xF5 && byte != 0xC0 && byte != 0xC1) has_all_bytes_ = false;
  }
}

// Whether text can be cut into words before merging, although no pre-tokenizer has done so: no merge crosses the place
// before a word mark when no token has the characters on both sides of it. No character may vanish, since the ones
// around it would then meet.
void Bpe::find_cuts(const MergeList& merges) {
  if (marks_characters_ || exact_order_ || id_or_missing(kWordMark) == kMissing) return;
  if (!options_.unk_token.has_value() && !(byte_tokens_ && byte_tokens_->is_complete())) return;
  const auto stands_for_other_text = [&](std::string_view token) {
    return token == options_.unk_token || (byte_tokens_ && ByteTokens::is_one(token));
  };
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    if (stands_for_other_text(merges.left(rank)) || stands_for_other_text(merges.right(rank))) return;
    const std::string_view token = merges.joined(rank);
    for (std::size_t at = token.find(kWordMark, 1); at != std::string_view::npos; at = token.find(kWordMark, at + 1))
      joins_word_mark_[static_cast<unsigned char>(token[at - 1])] = true;
  }
  cuts_at_word_mark_ = true;
}

std::int32_t Bpe::unknown() const {
  if (unknown_ == kMissing)
    throw make_error(ErrorCode::corrupt, where_, ": the unknown token \"", *options_.unk_token,
                     "\" is needed for a word but is not in the vocabulary");
  return unknown_;
}

void Bpe::tokenize(std::string_view piece, Scratch& given, std::vector<Token>& out) const {
  auto& scratch = static_cast<BpeScratch&>(given);
  if (options_.ignore_merges) {
    if (const auto whole = vocabulary_.id_of(piece)) {
      out.push_back({*whole, 0, static_cast<std::uint32_t>(piece.size())});
      return;
    }
  }
  if (!cuts_at_word_mark_) {
    tokenize_word(piece, scratch, out);
    return;
  }
  for (std::size_t begin = 0; begin < piece.size();) {
    std::size_t end = piece.find(kWordMark, begin + 1);
    while (end != std::string_view::npos && joins_word_mark_[static_cast<unsigned char>(piece[end - 1])])
      end = piece.find(kWordMark, end + 1);
    end = std::min(end, piece.size());
    const std::size_t first = out.size();
    tokenize_word(piece.substr(begin, end - begin), scratch, out);
    for (std::size_t i = first; i < out.size(); ++i) {
      out[i].begin += static_cast<std::uint32_t>(begin);
      out[i].end += static_cast<std::uint32_t>(begin);
    }
    begin = end;
  }
}

void Bpe::tokenize_word(std::string_view word, BpeScratch& scratch, std::vector<Token>& out) const {
  const std::uint64_t hash = WordCache::hash(word);
  if (scratch.texts.find(word, hash, out)) return;
  const std::size_t first = out.size();
  merge_word(word, scratch, out);
  scratch.texts.add(word, hash, std::span(out).subspan(first));
}

void Bpe::tokenize_bytes(std::string_view bytes, Scratch& given, std::vector<Token>& out) const {
  auto& scratch = static_cast<BpeScratch&>(given);
  const std::uint64_t hash = WordCache::hash(bytes);
  if (scratch.bytes.find(bytes, hash, out)) return;
  const std::size_t first = out.size();
  bool done = false;
  if (options_.ignore_merges && bytes.size() <= vocabulary_.longest()) {
    scratch.text.clear();
    append_byte_characters(scratch.text, bytes);
    if (const auto whole = vocabulary_.id_of(scratch.text)) {
      out.push_back({*whole, 0, static_cast<std::uint32_t>(bytes.size())});
      done = true;
    }
  }
  if (!done && has_all_bytes_) {
    scratch.symbols.start();
    for (const char byte : bytes) scratch.symbols.add(byte_character_ids_[static_cast<unsigned char>(byte)], 1);
    scratch.symbols.merge(merges_, exact_order_, *scratch.budget, out);
    done = true;
  }
  if (!done) Model::tokenize_bytes(bytes, scratch, out);
  scratch.bytes.add(bytes, hash, std::span(out).subspan(first));
}

std::int32_t Bpe::character_id(std::string_view character, bool is_first, bool is_last, std::string& marked) const {
  if (!marks_characters_) {
    if (character.size() == 1) return ascii_ids_[static_cast<unsigned char>(character[0])];
    return id_or_missing(character);
  }
  marked.clear();
  if (!is_first) marked += options_.continuing_subword_prefix;
  marked += character;
  if (is_last) marked += options_.end_of_word_suffix;
  return id_or_missing(marked);
}

bool Bpe::add_byte_tokens(std::string_view text, SymbolMerger& symbols) const {
  if (!byte_tokens_.has_value() || !byte_tokens_->has_all(text)) return false;
  for (const char byte : text) symbols.add(byte_tokens_->id(byte), 1);
  return true;
}

// BPE::merge_word of the reference. Unknown characters wait until the next known character or the end, even when byte
// tokens come between; the lengths of byte tokens count the marks of the character, too.
void Bpe::merge_word(std::string_view word, BpeScratch& scratch, std::vector<Token>& out) const {
  SymbolMerger& symbols = scratch.symbols;
  symbols.start();
  std::uint32_t waiting = 0;  // length of the unknown token
  const auto end_unknown = [&] {
    if (waiting > 0) symbols.add(unknown_, waiting);
    waiting = 0;
  };
  Progress progress(*scratch.budget);
  for (std::size_t at = 0; at < word.size();) {
    progress.reached(at);
    const std::size_t length = decode_utf8(word, at).length;
    const std::string_view character = word.substr(at, length);
    const std::int32_t id = character_id(character, at == 0, at + length == word.size(), scratch.text);
    at += length;
    if (id != kMissing) {
      end_unknown();
      symbols.add(id, static_cast<std::uint32_t>(length));
      continue;
    }
    if (add_byte_tokens(marks_characters_ ? std::string_view(scratch.text) : character, symbols)) continue;
    if (!options_.unk_token.has_value()) continue;
    if (!options_.fuse_unk || waiting == 0) {
      end_unknown();
      unknown();
    }
    waiting += static_cast<std::uint32_t>(length);
  }
  end_unknown();
  symbols.merge(merges_, exact_order_, *scratch.budget, out);
}

}  // namespace

ModelPtr bpe(Vocabulary vocabulary, const MergeList& merges, const BpeOptions& options, std::string_view where) {
  return std::make_unique<Bpe>(std::move(vocabulary), merges, options, where);
}

ModelPtr bpe(Vocabulary vocabulary, const std::vector<std::pair<std::string, std::string>>& merges,
             const BpeOptions& options, std::string_view where) {
  MergeList list;
  for (const auto& [left, right] : merges) list.add(left, right);
  return bpe(std::move(vocabulary), list, options, where);
}

}  // namespace alate::tokenizers
