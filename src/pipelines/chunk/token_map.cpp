#include "pipelines/chunk/token_map.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "alate/error.h"
#include "tokenizers/encode.h"
#include "tokenizers/unicode/character_classes.h"
#include "tokenizers/unicode/grapheme_clusters.h"
#include "tokenizers/unicode/letter_case.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::pipelines {
namespace {

using tokenizers::CodePoint;

constexpr std::size_t kWordCharacters = 8;  // of a token without a tokenizer

bool is_kana(char32_t c) { return c >= 0x3041 && c <= 0x30FF; }
bool is_word_by_itself(char32_t c) { return tokenizers::is_cjk_ideograph(c) || is_kana(c); }
bool is_space(char32_t c) { return tokenizers::is_in(c, tokenizers::kWhitespace); }

// Letters, digits and marks.
bool is_in_word(char32_t c) { return tokenizers::is_in(c, tokenizers::kWord) && !is_word_by_itself(c); }

bool is_visible(std::string_view cluster) {
  for (std::size_t at = 0; at < cluster.size();) {
    const CodePoint point = tokenizers::decode_utf8(cluster, at);
    if (!is_space(point.value)) return true;
    at += point.length;
  }
  return false;
}

CodePoint point_before(std::string_view text, std::size_t at) {
  std::size_t start = at - 1;
  while (!tokenizers::starts_code_point(text[start])) --start;
  return tokenizers::decode_utf8(text, start);
}

// The text in lower case, where one character may become two, and for each byte there its place in the text.
struct LowerText {
  std::string text;
  std::vector<std::uint32_t> places;  // and that of the end

  explicit LowerText(std::string_view original) {
    text.reserve(original.size());
    places.reserve(original.size() + 1);
    for (std::size_t at = 0; at < original.size();) {
      const CodePoint point = tokenizers::decode_utf8(original, at);
      const tokenizers::LowerCase letters = tokenizers::lower_case(point.value);
      tokenizers::append_utf8(text, letters.first);
      if (letters.second != 0) tokenizers::append_utf8(text, letters.second);
      places.resize(text.size(), static_cast<std::uint32_t>(at));
      at += point.length;
    }
    places.push_back(static_cast<std::uint32_t>(original.size()));
  }
};

}  // namespace

TokenMap::TokenMap(std::string_view text, const std::optional<Tokenizer>& tokenizer, bool lower_case,
                   const base::Cancellation& cancellation)
    : text_(text), cancellation_(cancellation) {
  if (text.size() >= std::numeric_limits<std::uint32_t>::max())
    throw make_error(ErrorCode::resource_exhausted, "the text has ", text.size(),
                     " bytes; cut at most 4 GiB at a time");
  if (tokenizers::repair_utf8(text))
    throw Error(ErrorCode::invalid_argument, "the text is not valid UTF-8: its chunks could not be slices of it");
  if (tokenizer) {
    read(*tokenizer, lower_case, cancellation);
  } else {
    count_by_rule();
  }
  begin_with_characters();
}

void TokenMap::read(const Tokenizer& tokenizer, bool lower_case, const base::Cancellation& cancellation) {
  const std::optional<LowerText> lower = lower_case ? std::optional<LowerText>(text_) : std::nullopt;
  EncodeOptions options;
  options.add_special_tokens = false;
  options.with_tokens = false;
  Encoding encoding =
      tokenizers::encode(tokenizer, lower ? std::string_view(lower->text) : text_, options, cancellation);
  const std::size_t count = encoding.ids.size();
  starts_.resize(count);
  ends_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto [start, end] = encoding.byte_offsets[i];
    starts_[i] = lower ? lower->places[start] : start;
    ends_[i] = lower ? lower->places[end] : end;
    if (i == 0) continue;
    starts_[i] = std::max(starts_[i], starts_[i - 1]);
    ends_[i] = std::max(ends_[i], ends_[i - 1]);
  }
  ids_ = std::move(encoding.ids);
}

void TokenMap::count_by_rule() {
  std::size_t in_word = 0;  // characters as readers see them
  for (std::size_t at = 0; at < text_.size();) {
    const std::size_t end = tokenizers::cluster_end(text_, at);
    const bool is_word = is_in_word(tokenizers::decode_utf8(text_, at).value);
    if (is_word && in_word % kWordCharacters != 0) {
      ends_.back() = static_cast<std::uint32_t>(end);
    } else if (is_visible(text_.substr(at, end - at))) {
      starts_.push_back(static_cast<std::uint32_t>(at));
      ends_.push_back(static_cast<std::uint32_t>(end));
    }
    in_word = is_word ? in_word + 1 : 0;
    at = end;
  }
}

// A token that begins inside of a character, with its marks for example, begins where the character does.
void TokenMap::begin_with_characters() {
  const tokenizers::GraphemeClusters clusters(text_);
  for (std::uint32_t& start : starts_) start = static_cast<std::uint32_t>(clusters.border_before(start));
}

std::size_t TokenMap::token_from(std::size_t byte) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(starts_, byte) - starts_.begin());
}

std::pair<std::size_t, std::size_t> TokenMap::bytes_of(std::size_t first, std::size_t end) const {
  cancellation_.check();
  // Characters and marks that the tokenizer leaves out belong to the token before them.
  std::size_t from = first == 0 ? 0 : starts_[first], to = end < size() ? starts_[end] : text_.size();
  // A space may carry a mark, and is visible then.
  while (from < to) {
    const std::size_t next = tokenizers::cluster_end(text_, from);
    if (is_visible(text_.substr(from, next - from))) break;
    from = std::min(next, to);
  }
  while (from < to) {
    const CodePoint point = point_before(text_, to);
    if (!is_space(point.value)) break;
    to -= point.length;
  }
  return {from, to};
}

bool TokenMap::is_border(std::size_t token) const {
  return token == 0 || token == size() || (starts_[token] > starts_[token - 1] && starts_[token] >= ends_[token - 1]);
}

bool TokenMap::is_word_start(std::size_t token) const {
  if (token == 0 || token == size()) return true;
  const std::size_t at = starts_[token];
  if (!is_border(token) || at == 0 || at == text_.size()) return false;
  return !is_in_word(point_before(text_, at).value) || !is_in_word(tokenizers::decode_utf8(text_, at).value);
}

}  // namespace alate::pipelines
