#include "tokenizers/unicode/named_references.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

#include "tokenizers/unicode/named_references.inc"

// 0: windows-1252 has none.
constexpr std::array<char32_t, 32> kWindows1252 = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                   0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,
                                                   0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                   0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

}  // namespace

void NamedReference::append_to(std::string& text) const {
  append_utf8(text, first);
  if (second != 0) append_utf8(text, second);
}

const NamedReference* longest_named_reference(std::string_view text) {
  const NamedReference* longest = nullptr;
  std::span<const NamedReference> names = kNamedReferences;
  for (std::size_t length = 1; length <= text.size() && !names.empty(); ++length) {
    // Those that begin with so much of the text; they are sorted, and a shorter one is before those it begins.
    const auto start = [length](const NamedReference& each) { return each.name.substr(0, length); };
    const auto [begin, end] = std::ranges::equal_range(names, text.substr(0, length), {}, start);
    names = {begin, end};
    if (!names.empty() && names.front().name.size() == length) longest = &names.front();
  }
  return longest;
}

char32_t numbered_character(char32_t number) {
  const bool is_byte = number >= 0x80 && number < 0xA0 && kWindows1252[number - 0x80] != 0;
  return is_byte ? kWindows1252[number - 0x80] : number;
}

}  // namespace alate::tokenizers
