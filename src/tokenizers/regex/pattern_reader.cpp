#include "tokenizers/regex/pattern_reader.h"

#include <algorithm>
#include <optional>

#include "tokenizers/regex/parse_regex.h"
#include "tokenizers/regex/properties.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

constexpr std::uint32_t kMaxRepeat = 100000;  // as in Oniguruma

std::optional<unsigned> digit_value(char32_t c, unsigned base) {
  unsigned value = base;
  if (c >= '0' && c <= '9') value = static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') value = static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') value = static_cast<unsigned>(c - 'A') + 10;
  return value < base ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string shown_pattern(std::string_view pattern) {
  constexpr std::size_t kShown = 200;
  if (pattern.size() <= kShown) return std::string(pattern);
  std::size_t end = kShown;
  while (end > 0 && !starts_code_point(pattern[end])) --end;
  return std::string(pattern.substr(0, end)) + "…";
}

PatternReader::PatternReader(std::string_view pattern, std::string_view where, RegexClasses classes)
    : pattern_(pattern), where_(where), classes_(classes) {
  if (pattern.size() > kMaxRegexBytes)
    throw make_error(ErrorCode::resource_exhausted, where, ": the regular expression has ", pattern.size(), " bytes; ",
                     kMaxRegexBytes, " are allowed");
  if (repair_utf8(pattern).has_value())
    throw make_error(ErrorCode::corrupt, where, ": the regular expression is not UTF-8");
  text_.reserve(pattern.size());
  for (std::size_t at = 0; at < pattern.size();) {
    const CodePoint c = decode_utf8(pattern, at);
    text_ += c.value;
    at += c.length;
  }
}

void PatternReader::fail(ErrorCode code, std::string_view problem) const {
  throw make_error(code, where_, ": in the regular expression \"", shown_pattern(pattern_), "\", before character ",
                   at_ + 1, ": ", problem);
}

bool PatternReader::accept(char32_t c) {
  if (peek() != c) return false;
  ++at_;
  return true;
}

bool PatternReader::accept(std::u32string_view text) {
  if (!rest().starts_with(text)) return false;
  at_ += text.size();
  return true;
}

bool PatternReader::accept_number(std::uint32_t& number) {
  const std::size_t begin = at_;
  std::uint32_t value = 0;
  while (peek() >= '0' && peek() <= '9') {
    value = value * 10 + static_cast<std::uint32_t>(next() - '0');
    if (value > kMaxRepeat) fail("a number of repetitions is too large");
  }
  if (at_ == begin) return false;
  number = value;
  return true;
}

char32_t PatternReader::number_of_digits(unsigned base, std::size_t max_digits) {
  char32_t value = 0;
  for (std::size_t i = 0; i < max_digits; ++i) {
    const std::optional<unsigned> digit = digit_value(peek(), base);
    if (!digit.has_value()) break;
    value = value * base + *digit;
    if (value > kLastCodePoint) fail("an escape is no code point");
    ++at_;
  }
  return value;
}

char32_t PatternReader::escaped_code_point() {
  if (at_end()) fail("it ends after a backslash");
  const char32_t c = next();
  switch (c) {
    case 't': return '\t';
    case 'n': return '\n';
    case 'r': return '\r';
    case 'f': return '\f';
    case 'v': return '\v';
    case 'a': return '\a';
    case 'e': return 0x1B;
    case 'u': {
      const std::size_t begin = at_;
      const char32_t value = number_of_digits(16, 4);
      if (at_ != begin + 4) fail("\\u needs four digits");
      if (value >= 0xD800 && value <= 0xDFFF) fail("an escape is a surrogate");
      return value;
    }
    case 'x': {
      if (accept(U'{')) {
        const std::size_t begin = at_;
        const char32_t value = number_of_digits(16, 8);
        if (at_ == begin || !accept(U'}')) refuse("\\x{…} with anything but one number");
        if (value >= 0xD800 && value <= 0xDFFF) fail("an escape is a surrogate");
        return value;
      }
      const char32_t value = number_of_digits(16, 2);
      if (value >= 0x80) refuse("\\x with a byte above 7F (write \\x{…})");
      return value;
    }
    case 'o':
      if (peek() == '{') refuse("\\o{…}");
      return c;
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7': {
      --at_;
      const char32_t value = number_of_digits(8, 3);
      if (value >= 0x80) refuse("an octal escape above 177");
      return value;
    }
    case 'c':
    case 'C':
    case 'M': refuse("a control or meta escape");
    default: return c;
  }
}

// Where dialects differ, portable classes and their complements both leave out what only some have.
CodePointSet PatternReader::words(bool negated, bool bare) const {
  constexpr CodePointRange kAscii[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  const CodePointSet all = bare ? bare_word_set() : word_set();
  if (negated) return all.complement();
  return classes_ == RegexClasses::portable ? CodePointSet(kAscii) : all;
}

CodePointSet PatternReader::digits(bool negated) const {
  if (negated) return digit_set().complement();
  return classes_ == RegexClasses::portable ? CodePointSet(CodePointRange{'0', '9'}) : digit_set();
}

CodePointSet PatternReader::spaces(bool negated) const {
  constexpr CodePointRange kAscii[] = {{'\t', '\r'}, {' ', ' '}};
  if (negated) return space_set().complement();
  return classes_ == RegexClasses::portable ? CodePointSet(kAscii) : space_set();
}

CodePointSet PatternReader::newlines() const {
  CodePointSet set(CodePointRange{'\n', '\n'});
  if (classes_ != RegexClasses::portable) return set;
  set.add('\r');
  set.add(CodePointRange{0x2028, 0x2029});
  return set;
}

CodePointSet PatternReader::property(bool negated, bool bare) {
  if (accept(U'^')) negated = !negated;
  std::string name;
  while (peek() != '}') {
    if (at_end() || peek() >= 0x80 || name.size() > 64) fail("\\p{…} has no known name");
    name += static_cast<char>(next());
  }
  skip(1);
  std::string folded = name;
  std::transform(folded.begin(), folded.end(), folded.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 0x20) : c; });
  std::optional<CodePointSet> set = bare && folded == "word" ? bare_word_set() : property_set(name);
  if (!set.has_value()) refuse("the property \"" + name + "\"");
  return negated ? set->complement() : *std::move(set);
}

}  // namespace alate::tokenizers
