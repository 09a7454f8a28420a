#include "search/html/character_references.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "tokenizers/unicode/utf8.h"

namespace alate::search {
namespace {

struct NamedReference {
  std::string_view name;  // without &, with ; where it has one
  char32_t first, second;
};

#include "search/html/character_references.inc"

// Numbers from 128 to 159 are read as bytes of windows-1252; 0: as they are.
constexpr std::array<char32_t, 32> kWindows1252 = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                   0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,
                                                   0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                   0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

constexpr char32_t kReplacement = 0xFFFD;

// The digit's value; 16 for another character.
std::uint32_t digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint32_t>(c - 'A' + 10);
  return 16;
}

char32_t character_of(std::uint32_t number) {
  if (number >= 0x80 && number < 0xA0 && kWindows1252[number - 0x80] != 0) return kWindows1252[number - 0x80];
  const bool is_scalar = number > 0 && number < 0x110000 && (number < 0xD800 || number > 0xDFFF);
  return is_scalar ? static_cast<char32_t>(number) : kReplacement;
}

// `rest` begins with &#.
std::optional<CharacterReference> numeric_reference(std::string_view rest) {
  const bool is_hex = rest.size() > 2 && (rest[2] == 'x' || rest[2] == 'X');
  const std::uint32_t base = is_hex ? 16 : 10;
  const std::size_t begin = is_hex ? 3 : 2;
  std::size_t at = begin;
  std::uint32_t number = 0;
  for (; at < rest.size() && digit_of(rest[at]) < base; ++at)
    number = std::min<std::uint32_t>(number * base + digit_of(rest[at]), 0x110000);
  if (at == begin) return std::nullopt;
  if (at < rest.size() && rest[at] == ';') ++at;
  CharacterReference found{.text = {}, .length = at};
  tokenizers::append_utf8(found.text, character_of(number));
  return found;
}

bool is_alphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The longest name that the text begins with; null if there is none.
const NamedReference* longest_name(std::string_view text) {
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

}  // namespace

std::optional<CharacterReference> character_reference(std::string_view rest, bool in_attribute) {
  if (rest.starts_with("&#")) return numeric_reference(rest);
  if (!rest.starts_with('&')) return std::nullopt;
  rest.remove_prefix(1);
  const NamedReference* found = longest_name(rest);
  if (found == nullptr) return std::nullopt;
  const std::string_view behind = rest.substr(found->name.size());
  const bool is_open = !found->name.ends_with(';');
  if (in_attribute && is_open && !behind.empty() && (behind[0] == '=' || is_alphanumeric(behind[0])))
    return std::nullopt;
  CharacterReference reference{.text = {}, .length = 1 + found->name.size()};
  tokenizers::append_utf8(reference.text, found->first);
  if (found->second != 0) tokenizers::append_utf8(reference.text, found->second);
  return reference;
}

std::string attribute_text(std::string_view value) {
  std::string text;
  for (std::size_t at = 0; at < value.size();) {
    if (const auto reference = value[at] == '&' ? character_reference(value.substr(at), true) : std::nullopt) {
      text += reference->text;
      at += reference->length;
    } else {
      text += value[at++];
    }
  }
  return text;
}

}  // namespace alate::search
