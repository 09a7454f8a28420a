#include "search/matches.h"

#include <functional>
#include <map>
#include <set>

#include "tokenizers/unicode/character_classes.h"
#include "tokenizers/unicode/letter_case.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::search {
namespace {

constexpr std::size_t kLeastCharacters = 3;  // shorter words are articles and the like
constexpr std::size_t kLeastPassages = 20;
constexpr std::size_t kCommonShare = 3;  // a common word is in more than one passage of so many

bool is_whole_word(char32_t c) { return tokenizers::is_cjk_ideograph(c) || (c >= 0x3041 && c <= 0x30FF); }

using Visit = std::function<void(std::string_view word, std::size_t start, std::size_t end)>;

// Calls `visit` for each word that counts, in lower case, with its place in code points. The text is valid UTF-8.
void for_each_word(std::string_view text, const Visit& visit) {
  std::size_t place = 0, begin = 0, begin_byte = 0, at = 0;
  const auto close = [&] {
    if (place - begin >= kLeastCharacters)
      visit(tokenizers::lower_cased(text.substr(begin_byte, at - begin_byte)), begin, place);
  };
  while (at < text.size()) {
    const tokenizers::CodePoint point = tokenizers::decode_utf8(text, at);
    const bool is_whole = is_whole_word(point.value);
    if (is_whole || !tokenizers::is_in(point.value, tokenizers::kWord)) {
      close();
      if (is_whole) visit(text.substr(at, point.length), place, place + 1);
      begin = place + 1;
      begin_byte = at + point.length;
    }
    at += point.length;
    ++place;
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
