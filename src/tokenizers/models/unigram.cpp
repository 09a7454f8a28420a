#include "tokenizers/models/unigram.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "alate/error.h"
#include "tokenizers/models/byte_tokens.h"
#include "tokenizers/models/byte_trie.h"
#include "tokenizers/models/vocabulary.h"
#include "tokenizers/models/word_cache.h"
#include "tokenizers/token_automaton.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

constexpr double kUnknownPenalty = 10;
constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

// The best path to a position of the piece.
struct PathEnd {
  double score = 0;
  std::uint32_t begin = kNowhere;  // of its last token
  std::int32_t id = 0;
};

struct UnigramScratch final : Model::Scratch {
  void trim() override {
    constexpr std::size_t kKept = std::size_t{1} << 16;
    if (ends.capacity() > kKept) ends = {};
    if (reversed.capacity() > kKept) reversed = {};
  }

  WordCache words;
  std::vector<PathEnd> ends;
  std::vector<Token> reversed;
};

class Unigram final : public Model {
 public:
  Unigram(const std::vector<UnigramPiece>& pieces, std::optional<std::size_t> unk_id, bool byte_fallback,
          std::string_view where);

  std::unique_ptr<Scratch> make_scratch() const override { return std::make_unique<UnigramScratch>(); }
  void tokenize(std::string_view piece, Scratch& scratch, std::vector<Token>& out) const override;

  std::optional<std::int32_t> token_to_id(std::string_view token) const override { return vocabulary_.id_of(token); }
  std::optional<std::string_view> id_to_token(std::int32_t id) const override {
    const auto repeated = repeated_.find(id);
    return vocabulary_.token_of(repeated == repeated_.end() ? id : repeated->second);
  }
  std::size_t size() const override { return scores_.size(); }
  std::optional<std::int32_t> unknown_id() const override { return unknown_; }

 private:
  void find_best_path(std::string_view piece, std::vector<PathEnd>& ends, WorkBudget& budget) const;
  void try_each_place(std::string_view piece, std::vector<PathEnd>& ends, WorkBudget& budget) const;
  void follow_automaton(std::string_view piece, std::vector<PathEnd>& ends, WorkBudget& budget) const;
  void offer_unknown(std::vector<PathEnd>& ends, std::size_t begin, std::size_t end) const;
  void add_unknown(std::string_view piece, std::uint32_t begin, std::uint32_t end, std::vector<Token>& reversed) const;

  Vocabulary vocabulary_;
  std::unordered_map<std::int32_t, std::int32_t> repeated_;  // earlier ids of texts that occur again
  std::vector<double> scores_;                               // by id
  ByteTrie trie_;
  TokenAutomaton long_tokens_;  // of all tokens, where trying each place may take long; otherwise empty
  std::optional<std::int32_t> unknown_;
  double unknown_score_;
  std::optional<ByteTokens> byte_tokens_;
  std::string where_;
};

Unigram::Unigram(const std::vector<UnigramPiece>& pieces, std::optional<std::size_t> unk_id, bool byte_fallback,
                 std::string_view where)
    : where_(where) {
  if (unk_id.has_value() && *unk_id >= pieces.size())
    throw make_error(ErrorCode::corrupt, where_, ": unk_id is ", *unk_id, " but there are ", pieces.size(), " pieces");
  if (pieces.size() > Vocabulary::kMaxTokens)
    throw make_error(ErrorCode::resource_exhausted, where_, ": there are more than ", Vocabulary::kMaxTokens,
                     " pieces");
  if (unk_id.has_value()) unknown_ = static_cast<std::int32_t>(*unk_id);
  vocabulary_.reserve(pieces.size());
  scores_.reserve(pieces.size());
  std::vector<std::pair<std::string_view, std::int32_t>> keys;
  keys.reserve(pieces.size());
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    vocabulary_.add(pieces[i].text, id);
    scores_.push_back(pieces[i].score);
    keys.emplace_back(pieces[i].text, id);
    lowest = std::min(lowest, pieces[i].score);
  }
  vocabulary_.finish();
  if (vocabulary_.size() < pieces.size()) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto id = static_cast<std::int32_t>(i);
      const std::int32_t last = vocabulary_.id_of(pieces[i].text).value_or(id);
      if (last != id) repeated_[id] = last;
    }
  }
  if (vocabulary_.longest() <= TokenAutomaton::kLongestTried) {
    trie_ = ByteTrie(keys);
  } else {
    TokenIds tokens;
    tokens.reserve(vocabulary_.size());
    vocabulary_.for_each([&](std::string_view token, std::int32_t id) {
      if (!token.empty()) tokens.emplace_back(token, id);
    });
    long_tokens_ = TokenAutomaton(std::move(tokens));
  }
  unknown_score_ = lowest - kUnknownPenalty;
  if (byte_fallback) byte_tokens_.emplace([&](std::string_view token) { return vocabulary_.id_of(token); });
}

void Unigram::tokenize(std::string_view piece, Scratch& given, std::vector<Token>& out) const {
  auto& scratch = static_cast<UnigramScratch&>(given);
  const std::uint64_t hash = WordCache::hash(piece);
  if (scratch.words.find(piece, hash, out)) return;
  find_best_path(piece, scratch.ends, *scratch.budget);
  std::vector<Token>& reversed = scratch.reversed;
  reversed.clear();
  std::uint32_t unknown_end = kNowhere;  // of a run of unknown tokens, which become one
  for (auto end = static_cast<std::uint32_t>(piece.size()); end > 0;) {
    const PathEnd& last = scratch.ends[end];
    if (last.id == unknown_) {
      if (unknown_end == kNowhere) unknown_end = end;
    } else {
      if (unknown_end != kNowhere) add_unknown(piece, end, unknown_end, reversed);
      unknown_end = kNowhere;
      reversed.push_back({last.id, last.begin, end});
    }
    end = last.begin;
  }
  if (unknown_end != kNowhere) add_unknown(piece, 0, unknown_end, reversed);
  const std::size_t first = out.size();
  out.insert(out.end(), reversed.rbegin(), reversed.rend());
  scratch.words.add(piece, hash, std::span(out).subspan(first));
}

// Of two tokens that end at the same place, the one whose path is better; of equally good ones the first.
void offer(PathEnd& best, double score, std::size_t begin, std::int32_t id) {
  if (best.begin != kNowhere && !(score > best.score)) return;
  best = {score, static_cast<std::uint32_t>(begin), id};
}

// Unigram::encode_optimized of the reference: of equally good paths the one whose last token begins first, since only a
// better score replaces another.
void Unigram::find_best_path(std::string_view piece, std::vector<PathEnd>& ends, WorkBudget& budget) const {
  ends.assign(piece.size() + 1, PathEnd());
  if (long_tokens_.empty()) {
    try_each_place(piece, ends, budget);
  } else {
    follow_automaton(piece, ends, budget);
  }
}

void Unigram::try_each_place(std::string_view piece, std::vector<PathEnd>& ends, WorkBudget& budget) const {
  for (std::size_t begin = 0; begin < piece.size();) {
    const std::size_t length = decode_utf8(piece, begin).length;
    const double score_here = ends[begin].score;
    bool has_character = false;
    std::uint32_t node = ByteTrie::kRoot;
    std::size_t at = begin;
    for (; at < piece.size() && trie_.step(node, piece[at]); ++at) {
      const std::int32_t id = trie_.value(node);
      if (id == ByteTrie::kNoValue) continue;
      offer(ends[at + 1], scores_[static_cast<std::size_t>(id)] + score_here, begin, id);
      if (at + 1 - begin == length) has_character = true;
    }
    budget.count_steps(at - begin + 1);
    if (!has_character) offer_unknown(ends, begin, begin + length);
    begin += length;
  }
}

// The same from the other side: all tokens that end at a place, the longest, which begins first, before the others. So
// long tokens that are not in the text cost nothing.
void Unigram::follow_automaton(std::string_view piece, std::vector<PathEnd>& ends, WorkBudget& budget) const {
  std::uint32_t state = TokenAutomaton::kStart;
  for (std::size_t begin = 0; begin < piece.size();) {
    const std::size_t end = begin + decode_utf8(piece, begin).length;
    std::size_t steps = 0;
    for (std::size_t at = begin; at < end; ++at) steps += long_tokens_.advance(state, piece[at]);
    bool has_character = false;
    for (std::uint32_t token = long_tokens_.longest(state); token != 0; token = long_tokens_.shorter(token)) {
      ++steps;
      const std::size_t from = end - long_tokens_.length(token);
      if (from > begin || !starts_code_point(piece[from])) continue;  // no part of a character begins a token
      const std::int32_t id = long_tokens_.id(token);
      offer(ends[end], scores_[static_cast<std::size_t>(id)] + ends[from].score, from, id);
      if (from == begin) has_character = true;
    }
    budget.count_steps(steps);
    if (!has_character) offer_unknown(ends, begin, end);
    begin = end;
  }
}

// For a character that is no token.
void Unigram::offer_unknown(std::vector<PathEnd>& ends, std::size_t begin, std::size_t end) const {
  const double score = unknown_score_ + ends[begin].score;
  if (!unknown_.has_value() && (ends[end].begin == kNowhere || score > ends[end].score))
    throw make_error(ErrorCode::corrupt, where_, ": a character is unknown but the model has no unk_id");
  offer(ends[end], score, begin, unknown_.value_or(0));
}

// The text of the whole run may be a token, although the path does not use it.
void Unigram::add_unknown(std::string_view piece, std::uint32_t begin, std::uint32_t end,
                          std::vector<Token>& reversed) const {
  const std::string_view text = piece.substr(begin, end - begin);
  if (text.size() <= vocabulary_.longest()) {
    if (const auto id = vocabulary_.id_of(text)) {
      reversed.push_back({*id, begin, end});
      return;
    }
  }
  if (byte_tokens_.has_value() && byte_tokens_->has_all(text)) {
    for (auto byte = text.rbegin(); byte != text.rend(); ++byte)
      reversed.push_back({byte_tokens_->id(*byte), begin, end});
    return;
  }
  reversed.push_back({*unknown_, begin, end, true});
}

}  // namespace

ModelPtr unigram(const std::vector<UnigramPiece>& pieces, std::optional<std::size_t> unk_id, bool byte_fallback,
                 std::string_view where) {
  return std::make_unique<Unigram>(pieces, unk_id, byte_fallback, where);
}

}  // namespace alate::tokenizers
