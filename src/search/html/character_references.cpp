#include "search/html/character_references.h"

#include <algorithm>
#include <cstdint>

#include "tokenizers/unicode/named_references.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::search {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// The digit's value; 16 for another character.
std::uint32_t digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint32_t>(c - 'A' + 10);
  return 16;
}

char32_t character_of(std::uint32_t number) {
  const bool is_scalar = number > 0 && number < 0x110000 && (number < 0xD800 || number > 0xDFFF);
  return is_scalar ? tokenizers::numbered_character(number) : kReplacement;
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

}  // namespace

std::optional<CharacterReference> character_reference(std::string_view rest, bool in_attribute) {
  if (rest.starts_with("&#")) return numeric_reference(rest);
  if (!rest.starts_with('&')) return std::nullopt;
  rest.remove_prefix(1);
  const tokenizers::NamedReference* found = tokenizers::longest_named_reference(rest);
  if (found == nullptr) return std::nullopt;
  const std::string_view behind = rest.substr(found->name.size());
  const bool is_open = !found->name.ends_with(';');
  if (in_attribute && is_open && !behind.empty() && (behind[0] == '=' || is_alphanumeric(behind[0])))
    return std::nullopt;
  CharacterReference reference{.text = {}, .length = 1 + found->name.size()};
  found->append_to(reference.text);
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
