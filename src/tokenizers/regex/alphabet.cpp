#include "tokenizers/regex/alphabet.h"

#include <algorithm>
#include <map>

#include "alate/error.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

struct Boundary {
  char32_t at;
  std::size_t set;
};

}  // namespace

Alphabet::Alphabet(const std::vector<CodePointSet>& sets, std::string_view where) : letters_(sets.size()) {
  std::vector<Boundary> boundaries;  // where code points enter or leave a set
  for (std::size_t set = 0; set < sets.size(); ++set) {
    for (const CodePointRange range : sets[set].ranges()) {
      boundaries.push_back({range.first, set});
      boundaries.push_back({range.last + 1, set});
    }
  }
  std::sort(boundaries.begin(), boundaries.end(), [](Boundary a, Boundary b) { return a.at < b.at; });

  std::vector<std::uint8_t> letter_at(kLastCodePoint + 1);
  std::map<std::vector<bool>, std::uint8_t> letters;  // by the sets that contain it
  std::vector<bool> inside(sets.size());
  std::size_t next = 0;
  for (char32_t at = 0; at <= kLastCodePoint;) {
    for (; next < boundaries.size() && boundaries[next].at == at; ++next)
      inside[boundaries[next].set] = !inside[boundaries[next].set];
    const char32_t end = next < boundaries.size() ? boundaries[next].at : kLastCodePoint + 1;
    const auto [letter, is_new] = letters.emplace(inside, static_cast<std::uint8_t>(letters.size()));
    if (letters.size() > 256)
      throw make_error(ErrorCode::unsupported, where,
                       ": the regular expression tells more than 256 kinds of characters apart");
    if (is_new) {
      for (std::size_t set = 0; set < sets.size(); ++set) letters_[set][letter->second] = inside[set];
    }
    std::fill(letter_at.begin() + at, letter_at.begin() + end, letter->second);
    at = end;
  }
  size_ = letters.size();

  std::map<Page, std::uint16_t> known;
  for (std::size_t page = 0; page < page_of_.size(); ++page) {
    Page content;
    std::copy_n(letter_at.begin() + static_cast<std::ptrdiff_t>(page * kPage), kPage, content.begin());
    const auto [place, is_new] = known.emplace(content, static_cast<std::uint16_t>(pages_.size()));
    if (is_new) pages_.push_back(content);
    page_of_[page] = place->second;
  }
}

void Alphabet::spell(std::string_view text, std::string& spelled) const {
  spelled.resize(text.size());
  const Page& ascii = pages_[page_of_[0]];
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      spelled[count++] = static_cast<char>(ascii[byte]);
      ++at;
      continue;
    }
    const CodePoint c = decode_utf8(text, at);
    spelled[count++] = static_cast<char>(pages_[page_of_[c.value / kPage]][c.value % kPage]);
    at += c.length;
  }
  spelled.resize(count);
}

}  // namespace alate::tokenizers
