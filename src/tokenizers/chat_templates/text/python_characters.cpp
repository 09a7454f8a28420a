#include "tokenizers/chat_templates/text/python_characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "tokenizers/unicode/letter_case.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers::chat_templates {
namespace {

struct Range {
  char32_t first, last;
};
struct SpecialCase {
  char32_t character;
  std::array<char32_t, 3> upper, title;  // zeros after the last
};

#include "tokenizers/chat_templates/text/python_characters.inc"

template <std::size_t N>
bool is_in_ranges(const Range (&ranges)[N], char32_t c) {
  const Range* found = std::ranges::lower_bound(ranges, c, {}, &Range::last);
  return found != std::end(ranges) && c >= found->first;
}

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

const SpecialCase* special_case(char32_t c) {
  if (c < 0x80) return nullptr;
  const SpecialCase* found = std::ranges::lower_bound(kSpecialCases, c, {}, &SpecialCase::character);
  return found != std::end(kSpecialCases) && found->character == c ? found : nullptr;
}

void append_all(std::string& out, const std::array<char32_t, 3>& characters) {
  for (const char32_t c : characters) {
    if (c != 0) append_utf8(out, c);
  }
}

void append_upper(std::string& out, char32_t c) {
  if (const SpecialCase* special = special_case(c)) return append_all(out, special->upper);
  append_utf8(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
}

void append_title(std::string& out, char32_t c) {
  if (const SpecialCase* special = special_case(c)) return append_all(out, special->title);
  append_utf8(out, static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c))));
}

bool is_cased(char32_t c) { return is_lower(c) || is_upper(c) || is_title(c); }

// Characters that do not part a word for the rule of the final sigma.
bool is_case_ignorable(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default: break;
  }
  constexpr std::u32string_view kOthers =
      U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A";
  return kOthers.find(c) != std::u32string_view::npos;
}

// A capital sigma becomes a final one after a letter and before no letter (SpecialCasing.txt, Final_Sigma).
bool is_final_sigma(std::string_view text, std::size_t at) {
  bool after_letter = false;
  for (std::size_t before = at; before > 0;) {
    do --before;
    while (!starts_code_point(text[before]));
    const char32_t c = decode_utf8(text, before).value;
    if (is_case_ignorable(c)) continue;
    after_letter = is_cased(c);
    break;
  }
  if (!after_letter) return false;
  for (std::size_t next = at + 2; next < text.size();) {
    const CodePoint point = decode_utf8(text, next);
    if (!is_case_ignorable(point.value)) return !is_cased(point.value);
    next += point.length;
  }
  return true;
}

void append_lower(std::string& out, std::string_view text, std::size_t at, char32_t c) {
  if (c == 0x3A3) return append_utf8(out, is_final_sigma(text, at) ? 0x3C2 : 0x3C3);
  const LowerCase lower = lower_case(c);
  append_utf8(out, lower.first);
  if (lower.second != 0) append_utf8(out, lower.second);
}

template <typename Append>
std::string mapped(std::string_view text, Append append) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    append(out, at, point.value);
    at += point.length;
  }
  return out;
}

}  // namespace

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_line_end(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool is_printable(char32_t c) {
  if (c < 0x7F) return c >= 0x20;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS: return false;
    default: return true;
  }
}

bool is_alphabetic(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO: return true;
    default: return false;
  }
}

bool is_decimal(char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }
bool is_digit(char32_t c) { return is_decimal(c) || is_in_ranges(kOtherDigits, c); }
bool is_numeric(char32_t c) {
  const utf8proc_category_t kind = category(c);
  return kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_NL || kind == UTF8PROC_CATEGORY_NO ||
         is_in_ranges(kOtherNumeric, c);
}
bool is_lower(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LL || is_in_ranges(kOtherLower, c); }
bool is_upper(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LU || is_in_ranges(kOtherUpper, c); }
bool is_title(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LT; }

// The digits of a script are ten characters in order, and blocks of them begin at a digit zero.
int decimal_value(char32_t c) {
  if (c < 0x80) return static_cast<int>(c - '0');
  if (c >= 0x1D7CE && c <= 0x1D7FF) return static_cast<int>((c - 0x1D7CE) % 10);
  char32_t zero = c;
  while (c - zero < 9 && is_decimal(zero - 1)) --zero;
  return static_cast<int>(c - zero);
}

bool is_identifier(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    const bool is_letter =
        point.value == '_' || is_alphabetic(point.value) || category(point.value) == UTF8PROC_CATEGORY_NL;
    const utf8proc_category_t kind = category(point.value);
    const bool continues = kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_MN ||
                           kind == UTF8PROC_CATEGORY_MC || kind == UTF8PROC_CATEGORY_PC;
    if (!is_letter && (at == 0 || !continues)) return false;
    at += point.length;
  }
  return !text.empty();
}

std::string lower_text(std::string_view text) {
  return mapped(text, [&](std::string& out, std::size_t at, char32_t c) { append_lower(out, text, at, c); });
}

std::string upper_text(std::string_view text) {
  return mapped(text, [](std::string& out, std::size_t, char32_t c) { append_upper(out, c); });
}

std::string folded_text(std::string_view text) {
  return mapped(text, [](std::string& out, std::size_t, char32_t c) {
    std::array<utf8proc_int32_t, 8> folded;
    int boundary = 0;
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), folded.data(),
                                               static_cast<utf8proc_ssize_t>(folded.size()),
                                               static_cast<utf8proc_option_t>(UTF8PROC_CASEFOLD), &boundary);
    if (count <= 0 || count > static_cast<utf8proc_ssize_t>(folded.size())) return append_utf8(out, c);
    for (utf8proc_ssize_t i = 0; i < count; ++i)
      append_utf8(out, static_cast<char32_t>(folded[static_cast<std::size_t>(i)]));
  });
}

std::string swapped_text(std::string_view text) {
  return mapped(text, [&](std::string& out, std::size_t at, char32_t c) {
    if (is_upper(c)) return append_lower(out, text, at, c);
    if (is_lower(c)) return append_upper(out, c);
    append_utf8(out, c);
  });
}

std::string capitalized_text(std::string_view text) {
  return mapped(text, [&](std::string& out, std::size_t at, char32_t c) {
    if (at == 0) return append_title(out, c);
    append_lower(out, text, at, c);
  });
}

std::string titled_text(std::string_view text) {
  bool in_word = false;
  return mapped(text, [&](std::string& out, std::size_t at, char32_t c) {
    if (in_word) {
      append_lower(out, text, at, c);
    } else {
      append_title(out, c);
    }
    in_word = is_cased(c);
  });
}

}  // namespace alate::tokenizers::chat_templates
