#include "tokenizers/added_vocabulary.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "alate/error.h"
#include "tokenizers/unicode/character_classes.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

// The start of the code point that ends at `end`.
std::size_t previous_start(std::string_view text, std::size_t end) {
  do {
    --end;
  } while (!starts_code_point(text[end]));
  return end;
}

bool touches_word(std::string_view text, std::size_t begin, std::size_t end) {
  if (begin > 0 && is_in(decode_utf8(text, previous_start(text, begin)).value, kWord)) return true;
  return end < text.size() && is_in(decode_utf8(text, end).value, kWord);
}

std::size_t skip_space_back(std::string_view text, std::size_t begin, std::size_t limit) {
  while (begin > limit) {
    const std::size_t before = previous_start(text, begin);
    if (before < limit || !is_in(decode_utf8(text, before).value, kWhitespace)) break;
    begin = before;
  }
  return begin;
}

std::size_t skip_space(std::string_view text, std::size_t end) {
  while (end < text.size()) {
    const CodePoint c = decode_utf8(text, end);
    if (!is_in(c.value, kWhitespace)) break;
    end += c.length;
  }
  return end;
}

Span span_of(std::size_t begin, std::size_t end) {
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

}  // namespace

AddedVocabulary::AddedVocabulary(std::vector<AddedToken> tokens, const Model& model, const Normalizer* normalizer,
                                 std::string_view where) {
  if (tokens.size() > kMaxTokens || model.size() > std::numeric_limits<std::int32_t>::max() - kMaxTokens)
    throw make_error(ErrorCode::resource_exhausted, where, ": there are more than ", kMaxTokens, " added tokens");
  std::size_t bytes = 0;
  const auto count_bytes = [&](std::size_t more) {
    bytes += more;
    if (bytes > kMaxBytes)
      throw make_error(ErrorCode::resource_exhausted, where, ": the added tokens have more than ", kMaxBytes,
                       " bytes together, written and normalized");
  };
  constexpr std::size_t kBytesPerToken = 16;  // some work is for each token, however short
  std::size_t written = 0;
  for (const AddedToken& token : tokens) written += token.content.size() + kBytesPerToken;
  WorkBudget budget(base::Cancellation::never(), written);
  auto next_id = static_cast<std::int32_t>(model.size());
  for (AddedToken& token : tokens) {
    if (token.content.empty()) continue;
    if (token.content.size() > kMaxTokenBytes)
      throw make_error(ErrorCode::resource_exhausted, where, ": an added token has ", token.content.size(), " bytes; ",
                       kMaxTokenBytes, " are allowed");
    count_bytes(token.content.size());
    const std::int32_t id = add(token, model, next_id);
    if (token.normalized && normalizer != nullptr) {
      AlignedText text(token.content, span_of(0, token.content.size()), false, budget);
      normalizer->apply(text);
      count_bytes(text.size());
      // Stays when the token comes again without it, as in the reference.
      if (text.text() != token.content) normalized_.insert_or_assign(id, std::string(text.text()));
    }
    if (token.special) special_.insert(token.content);
    tokens_[id] = std::move(token);
  }
  TokenIds as_written, in_normalized;
  for (const auto& [id, token] : tokens_) {
    const auto normalized = normalized_.find(id);
    const bool is_normalized = token.normalized && normalized != normalized_.end();
    const std::string& pattern = is_normalized ? normalized->second : token.content;
    if (!pattern.empty()) (token.normalized ? in_normalized : as_written).emplace_back(pattern, id);
  }
  as_written_ = TokenMatcher(std::move(as_written));
  in_normalized_ = TokenMatcher(std::move(in_normalized));
}

std::int32_t AddedVocabulary::add(const AddedToken& token, const Model& model, std::int32_t& next_id) {
  if (const auto known = ids_.find(token.content); known != ids_.end()) return known->second;
  std::int32_t id = 0;
  if (const auto in_model = model.token_to_id(token.content)) {
    id = *in_model;
  } else {
    // The model's ids may have gaps, so the next number may be in use.
    if (next_id == std::numeric_limits<std::int32_t>::max())
      throw make_error(ErrorCode::corrupt, "the added tokens have no ids left");
    id = next_id++;
  }
  ids_.emplace(token.content, id);
  return id;
}

std::optional<std::int32_t> AddedVocabulary::token_to_id(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string_view> AddedVocabulary::id_to_token(std::int32_t id) const {
  const auto found = tokens_.find(id);
  if (found == tokens_.end()) return std::nullopt;
  const auto normalized = normalized_.find(id);
  return normalized == normalized_.end() ? found->second.content : normalized->second;
}

std::size_t AddedVocabulary::size_beyond(const Model& model) const {
  return static_cast<std::size_t>(std::count_if(
      ids_.begin(), ids_.end(), [&](const auto& token) { return !model.token_to_id(token.first).has_value(); }));
}

// As AddedVocabulary::find_matches of the reference: a rejected match still consumes its text.
std::vector<AddedVocabulary::Part> AddedVocabulary::split(std::string_view text, const TokenMatcher& matcher,
                                                          WorkBudget& budget) const {
  std::vector<Part> parts;
  std::size_t done = 0;
  std::size_t overlap = 0;
  Span space{0, 0};  // the last white space that was skipped, so that none is skipped twice
  std::vector<TokenMatcher::Found> matches;
  matcher.find_all(text, matches, budget);
  Progress progress(budget);
  for (const TokenMatcher::Found& found : matches) {
    progress.reached(found.begin);
    const AddedToken& token = tokens_.at(found.id);
    std::size_t begin = found.begin;
    std::size_t end = found.end;
    if (token.single_word && touches_word(text, begin, end)) continue;
    if (token.lstrip) begin = std::max(skip_space_back(text, begin, std::min(done, begin)), done);
    if (token.rstrip) {
      if (end < space.begin || end > space.end) space = span_of(end, skip_space(text, end));
      end = space.end;
    }
    if (begin < done) {  // white space behind one token may begin the next
      overlap += done - begin;
      if (overlap > kMaxOverlap)
        throw make_error(ErrorCode::resource_exhausted, "added tokens that take white space share more than ",
                         kMaxOverlap, " bytes of the text");
    }
    if (done < begin) parts.push_back({done, begin, kNoToken});
    if (begin < end) parts.push_back({begin, end, found.id});
    done = end;
  }
  if (done < text.size()) parts.push_back({done, text.size(), kNoToken});
  return parts;
}

PieceList AddedVocabulary::extract_and_normalize(std::string_view text, const Normalizer* normalizer, bool track,
                                                 WorkBudget& budget) const {
  const auto normalized_part = [&](std::size_t begin, std::size_t end) {
    AlignedText part(text, span_of(begin, end), track, budget);
    if (normalizer != nullptr) normalizer->apply(part);
    return part;
  };
  PieceList list{AlignedText(text, {0, 0}, track, budget), {}};
  const auto append = [&](AlignedText part) {
    const std::size_t before = list.text.size();
    budget.check_bytes(before + part.size());
    for (const Part& piece : split(part.text(), in_normalized_, budget)) {
      const Span range = span_of(before + piece.begin, before + piece.end);
      list.pieces.push_back({range.begin, range.end, piece.id});
    }
    list.text.append(std::move(part));
  };
  const std::vector<Part> parts = split(text, as_written_, budget);
  for (const Part& part : parts) {
    if (part.id == kNoToken) {
      append(normalized_part(part.begin, part.end));
      continue;
    }
    const auto before = static_cast<std::uint32_t>(list.text.size());
    list.text.append(AlignedText(text, span_of(part.begin, part.end), track, budget));
    list.pieces.push_back({before, static_cast<std::uint32_t>(list.text.size()), part.id});
  }
  return list;
}

}  // namespace alate::tokenizers
