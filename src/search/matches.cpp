#include "search/matches.h"

#include <functional>
#include <map>
#include <set>

#include "tokenizers/unicode/canonical_text.h"
#include "tokenizers/unicode/character_classes.h"
#include "tokenizers/unicode/grapheme_clusters.h"
#include "tokenizers/unicode/letter_case.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::search {
namespace {

constexpr std::size_t kLeastCharacters = 3;  // shorter words are articles and the like
constexpr std::size_t kLeastPassages = 20;
constexpr std::size_t kCommonShare = 3;  // a common word is in more than one passage of so many

bool is_whole_word(char32_t c) { return tokenizers::is_cjk_ideograph(c) || (c >= 0x3041 && c <= 0x30FF); }

using Visit = std::function<void(std::string_view word, std::size_t start, std::size_t end)>;

enum class Kind { whole_word, part_of_word, other };

// Of a character as readers see it: that of its first code point that is not a mere format character.
Kind kind_of(std::string_view cluster) {
  Kind kind = Kind::other;
  for (std::size_t at = 0; at < cluster.size();) {
    const tokenizers::CodePoint point = tokenizers::decode_utf8(cluster, at);
    if (is_whole_word(point.value)) return Kind::whole_word;
    kind = tokenizers::is_in(point.value, tokenizers::kWord) ? Kind::part_of_word : Kind::other;
    if (!tokenizers::is_in(point.value, tokenizers::kOther)) return kind;
    at += point.length;
  }
  return kind;
}

// Calls `visit` for each word that counts, in lower case and canonical form, with its place in code points. The text is
// valid UTF-8.
void for_each_word(std::string_view text, const Visit& visit) {
  std::size_t place = 0, begin = 0, begin_byte = 0, at = 0, characters = 0;
  const auto close = [&] {
    if (characters >= kLeastCharacters)
      visit(tokenizers::canonical_form(tokenizers::lower_cased(text.substr(begin_byte, at - begin_byte))), begin,
            place);
    characters = 0;
  };
  while (at < text.size()) {
    const std::size_t end = tokenizers::cluster_end(text, at);
    const std::string_view cluster = text.substr(at, end - at);
    const std::size_t end_place = place + tokenizers::count_code_points(cluster);
    const Kind kind = kind_of(cluster);
    if (kind == Kind::part_of_word) {
      ++characters;
    } else {
      close();
      if (kind == Kind::whole_word) visit(tokenizers::canonical_form(cluster), place, end_place);
      begin = end_place;
      begin_byte = end;
    }
    at = end;
    place = end_place;
  }
  close();
}

}  // namespace

QuestionWords::QuestionWords(std::string_view question) {
  const auto repaired = tokenizers::repair_utf8(question);
  for_each_word(repaired ? std::string_view(*repaired) : question,
                [&](std::string_view word, std::size_t, std::size_t) { words_.emplace(word); });
}

void QuestionWords::drop_common(std::span<const std::string_view> passages) {
  if (passages.size() < kLeastPassages) return;
  std::map<std::string, std::size_t, std::less<>> passages_of;
  for (const std::string_view passage : passages) {
    std::set<std::string, std::less<>> found;
    const auto repaired = tokenizers::repair_utf8(passage);
    for_each_word(repaired ? std::string_view(*repaired) : passage,
                  [&](std::string_view word, std::size_t, std::size_t) {
                    if (words_.contains(word)) found.emplace(word);
                  });
    for (const std::string& word : found) ++passages_of[word];
  }
  for (const auto& [word, count] : passages_of) {
    if (count * kCommonShare > passages.size()) words_.erase(word);
  }
}

std::vector<std::pair<std::size_t, std::size_t>> QuestionWords::in(std::string_view text) const {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for_each_word(text, [&](std::string_view word, std::size_t start, std::size_t end) {
    if (words_.contains(word)) found.emplace_back(start, end);
  });
  return found;
}

}  // namespace alate::search
