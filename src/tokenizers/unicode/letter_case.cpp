#include "tokenizers/unicode/letter_case.h"

#include <utf8proc.h>

#include <optional>

#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

// Letters of Unicode 16 and 17, which the reference knows but utf8proc 2.8 (Unicode 15) does not. Found by comparing
// both for every code point.
char32_t later_lower_case(char32_t c) {
  if (c >= 0x10D50 && c <= 0x10D65) return c + 0x20;
  if (c >= 0x16EA0 && c <= 0x16EB8) return c + 0x1B;
  switch (c) {
    case 0x1C89:
    case 0xA7CC:
    case 0xA7CE:
    case 0xA7D2:
    case 0xA7D4:
    case 0xA7DA: return c + 1;
    case 0xA7CB: return 0x264;
    case 0xA7DC: return 0x19B;
    default: return c;
  }
}

}  // namespace

LowerCase lower_case(char32_t c) {
  if (c < 0x80) return {c >= 'A' && c <= 'Z' ? c + 0x20 : c, 0};
  if (c == 0x130) return {'i', 0x307};
  const auto lower = static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
  return {lower == c ? later_lower_case(c) : lower, 0};
}

std::string lower_cased(std::string_view text) {
  const std::optional<std::string> repaired = repair_utf8(text);
  const std::string_view valid = repaired ? std::string_view(*repaired) : text;
  std::string lower;
  lower.reserve(valid.size());
  for (std::size_t at = 0; at < valid.size();) {
    const CodePoint point = decode_utf8(valid, at);
    at += point.length;
    const LowerCase letters = lower_case(point.value);
    append_utf8(lower, letters.first);
    if (letters.second != 0) append_utf8(lower, letters.second);
  }
  return lower;
}

}  // namespace alate::tokenizers
