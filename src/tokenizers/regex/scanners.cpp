#include "tokenizers/regex/scanners.h"

#include <cstddef>
#include <cstdint>

#include "tokenizers/regex/scan_text.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {

namespace {

consteval std::array<std::uint16_t, 32> make_category_classes() {
  std::array<std::uint16_t, 32> classes{};
  for (std::size_t category = 0; category <= kCn; ++category)
    classes[category] = scan_classes_of(static_cast<GeneralCategory>(category));
  return classes;
}

consteval std::array<std::uint16_t, 128> make_ascii_classes() {
  std::array<std::uint16_t, 128> classes{};
  for (std::size_t byte = 0; byte < classes.size(); ++byte) {
    const auto c = static_cast<char>(byte);
    GeneralCategory category = kCc;
    if (c >= 'A' && c <= 'Z') category = kLu;
    if (c >= 'a' && c <= 'z') category = kLl;
    if (c >= '0' && c <= '9') category = kNd;
    if (c == ' ') category = kZs;
    if (std::string_view("!\"#%&'()*,-./:;?@[\\]_{}").find(c) != std::string_view::npos) category = kPo;
    if (std::string_view("$+<=>^`|~").find(c) != std::string_view::npos) category = kSm;
    classes[byte] = scan_classes_of(category);
    if (c >= '\t' && c <= '\r') classes[byte] |= kScanSpace;
    if (c == '\n' || c == '\r') classes[byte] |= kScanNewline;
  }
  return classes;
}

}  // namespace

constexpr std::array<std::uint16_t, 32> kCategoryScanClasses = make_category_classes();
constexpr std::array<std::uint16_t, 128> kAsciiScanClasses = make_ascii_classes();

ScannedLetter ScanText::wide_letter(std::size_t at) const {
  const CodePoint c = decode_utf8(text_, at);
  // The next line, a control character, is the only white space beyond ASCII that is no separator.
  const std::uint16_t classes = c.value == 0x85 ? static_cast<std::uint16_t>(kScanAny | kScanSpace)
                                                : kCategoryScanClasses[general_category(c.value)];
  return {classes, static_cast<std::uint32_t>(c.length)};
}

namespace {

constexpr std::size_t kNoMatch = static_cast<std::size_t>(-1);
constexpr std::uint16_t kWordOrSpace = kScanL | kScanN | kScanSpace;

// The end of 's, 't, 're, 've, 'm, 'll or 'd at `at`; `at` if there is none.
std::size_t skip_contraction(const ScanText& text, std::size_t at, bool ignore_case) {
  if (text.byte(at) != '\'') return at;
  const auto lower = [&](std::size_t i) -> unsigned char {
    const unsigned char byte = text.byte(i);
    return ignore_case && byte >= 'A' && byte <= 'Z' ? static_cast<unsigned char>(byte + 0x20) : byte;
  };
  const unsigned char second = lower(at + 2);
  switch (lower(at + 1)) {
    case 's':
    case 't':
    case 'm':
    case 'd': return at + 2;
    case 'r':
    case 'v': return second == 'e' ? at + 3 : at;
    case 'l': return second == 'l' ? at + 3 : at;
    case 0xC5: return ignore_case && second == 0xBF ? at + 3 : at;  // U+017F, the long s
    default: return at;
  }
}

// \s*[\r\n]+ (if `newlines`), then \s+(?!\S), then \s+; white space must be at `at`.
std::size_t skip_space(const ScanText& text, std::size_t at, bool newlines) {
  std::size_t end = at;
  std::size_t last = at;          // start of the last one
  std::size_t after_newline = 0;  // end of the last line break
  for (;;) {
    const ScannedLetter next = text.letter(end);
    if ((next.classes & kScanSpace) == 0) break;
    last = end;
    end += next.length;
    if ((next.classes & kScanNewline) != 0) after_newline = end;
  }
  if (newlines && after_newline != 0) return after_newline;
  return end == text.size() || last == at ? end : last;
}

// \p{N}{1,max}, of which the first is at `at`.
std::size_t skip_numbers(const ScanText& text, std::size_t at, std::size_t max) {
  for (std::size_t i = 0; i < max; ++i) {
    const ScannedLetter next = text.letter(at);
    if ((next.classes & kScanN) == 0) break;
    at += next.length;
  }
  return at;
}

// Each scanner has next(text, at), the end of the match that starts at `at`, or kNoMatch.

struct Gpt2Scanner {
  static constexpr std::string_view kRegex =
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

  static std::size_t next(const ScanText& text, std::size_t at) {
    const std::size_t contraction = skip_contraction(text, at, false);
    if (contraction != at) return contraction;
    const std::size_t from = text.byte(at) == ' ' ? at + 1 : at;
    const std::uint16_t classes = text.letter(from).classes;
    if ((classes & kScanL) != 0) return text.run(from, kScanL);
    if ((classes & kScanN) != 0) return text.run(from, kScanN);
    if (classes != 0 && (classes & kScanSpace) == 0) return text.run(from, kScanAny, kWordOrSpace);
    return skip_space(text, at, false);
  }
};

// `numbers` is the maximum length of a run of numbers.
template <std::size_t numbers>
struct Cl100kScanner {
  static constexpr std::string_view kRegex =
      numbers == 3
          ? std::string_view(
                R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)")
          : std::string_view(
                R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)");

  static std::size_t next(const ScanText& text, std::size_t at) {
    const std::size_t contraction = skip_contraction(text, at, true);
    if (contraction != at) return contraction;
    const ScannedLetter first = text.letter(at);
    if ((first.classes & kScanL) != 0) return text.run(at + first.length, kScanL);
    if ((first.classes & kScanN) != 0) return skip_numbers(text, at, numbers);
    const ScannedLetter second = text.letter(at + first.length);
    if ((first.classes & kScanNewline) == 0 && (second.classes & kScanL) != 0)
      return text.run(at + first.length, kScanL);
    if ((first.classes & kScanSpace) == 0) return text.newlines(text.run(at, kScanAny, kWordOrSpace));
    if (text.byte(at) == ' ' && second.classes != 0 && (second.classes & kWordOrSpace) == 0)
      return text.newlines(text.run(at + 1, kScanAny, kWordOrSpace));
    return skip_space(text, at, true);
  }
};

// o200k, and Mistral's Tekken without contractions and with single numbers.
template <bool contractions>
struct O200kScanner {
  static constexpr std::string_view kRegex =
      contractions
          ? std::string_view(
                R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)")
          : std::string_view(
                R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)");

  static std::size_t next(const ScanText& text, std::size_t at) {
    const ScannedLetter first = text.letter(at);
    const std::size_t word = skip_word(text, at, first);
    if (word != kNoMatch) return contractions ? skip_contraction(text, word, true) : word;
    if ((first.classes & kScanN) != 0) return skip_numbers(text, at, contractions ? 3 : 1);
    if ((first.classes & kScanSpace) == 0) return after_others(text, at);
    const std::uint16_t second = text.letter(at + first.length).classes;
    if (text.byte(at) == ' ' && second != 0 && (second & kWordOrSpace) == 0) return after_others(text, at + 1);
    return skip_space(text, at, true);
  }

 private:
  static std::size_t skip_word(const ScanText& text, std::size_t at, ScannedLetter first) {
    const bool is_prefix = (first.classes & (kScanL | kScanN | kScanNewline)) == 0;
    const std::size_t second = at + first.length;
    if (is_prefix) {
      const std::size_t lower = skip_to_lower(text, second);
      if (lower != kNoMatch) return lower;
    }
    const std::size_t lower = skip_to_lower(text, at);
    if (lower != kNoMatch) return lower;
    if (is_prefix && (text.letter(second).classes & kScanUpper) != 0) return skip_upper(text, second);
    return (first.classes & kScanUpper) != 0 ? skip_upper(text, at) : kNoMatch;
  }

  // [upper]*[lower]+: letters of both classes go to the first part but for one that the second part needs.
  static std::size_t skip_to_lower(const ScanText& text, std::size_t at) {
    std::size_t after_lower = kNoMatch;
    for (;;) {
      const ScannedLetter next = text.letter(at);
      if ((next.classes & kScanUpper) == 0) {
        return (next.classes & kScanLower) != 0 ? text.run(at + next.length, kScanLower) : after_lower;
      }
      at += next.length;
      if ((next.classes & kScanLower) != 0) after_lower = at;
    }
  }

  // [upper]+[lower]*
  static std::size_t skip_upper(const ScanText& text, std::size_t at) {
    return text.run(text.run(at, kScanUpper), kScanLower);
  }

  static std::size_t after_others(const ScanText& text, std::size_t at) {
    at = text.run(at, kScanAny, kWordOrSpace);
    while (text.byte(at) == '\n' || text.byte(at) == '\r' || text.byte(at) == '/') ++at;
    return at;
  }
};

struct DeepSeekNumbersScanner {
  static constexpr std::string_view kRegex = R"(\p{N}{1,3})";

  static std::size_t next(const ScanText& text, std::size_t at) {
    return (text.letter(at).classes & kScanN) != 0 ? skip_numbers(text, at, 3) : kNoMatch;
  }
};

struct DeepSeekIdeographsScanner {
  static constexpr std::string_view kRegex = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+";

  static std::size_t next(const ScanText& text, std::size_t at) {
    const std::size_t begin = at;
    while (is_member(text, at)) at += 3;
    return at == begin ? kNoMatch : at;
  }

 private:
  static bool is_member(const ScanText& text, std::size_t at) {
    if ((text.byte(at) & 0xF0) != 0xE0) return false;
    const char32_t c = (text.byte(at) & 0x0FU) << 12 | (text.byte(at + 1) & 0x3FU) << 6 | (text.byte(at + 2) & 0x3FU);
    return (c >= 0x4E00 && c <= 0x9FA5) || (c >= 0x3040 && c <= 0x30FF);
  }
};

struct DeepSeekScanner {
  static constexpr std::string_view kRegex =
      "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "
      "?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+";
  static constexpr std::uint16_t kMarks = kScanP | kScanS;

  static std::size_t next(const ScanText& text, std::size_t at) {
    const ScannedLetter first = text.letter(at);
    const std::size_t second_at = at + first.length;
    if (text.byte(at) < 0x80 && (first.classes & kMarks) != 0 && is_ascii_letter(text.byte(second_at))) {
      std::size_t end = second_at;
      while (is_ascii_letter(text.byte(end))) ++end;
      return end;
    }
    const ScannedLetter second = text.letter(second_at);
    const bool is_prefix = (first.classes & (kScanL | kMarks | kScanNewline)) == 0;
    if (is_prefix && (second.classes & (kScanL | kScanM)) != 0) return text.run(second_at, kScanL | kScanM);
    if ((first.classes & (kScanL | kScanM)) != 0) return text.run(at, kScanL | kScanM);
    if ((first.classes & kMarks) != 0) return text.newlines(text.run(at, kMarks));
    if (text.byte(at) == ' ' && (second.classes & kMarks) != 0) return text.newlines(text.run(second_at, kMarks));
    return (first.classes & kScanSpace) != 0 ? skip_space(text, at, true) : kNoMatch;
  }

 private:
  static bool is_ascii_letter(unsigned char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
  }
};

template <typename Scanner>
class ScannerMatcher final : public Pattern::Matcher {
 public:
  void find_all(std::string_view text, std::vector<Span>& matches, WorkBudget& budget) const override {
    const ScanText scanned(text);
    Progress progress(budget);
    for (std::size_t at = 0; at < text.size();) {
      progress.reached(at);
      const std::size_t end = Scanner::next(scanned, at);
      if (end == kNoMatch) {
        at += scanned.letter(at).length;
        continue;
      }
      matches.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)});
      at = end;
    }
  }
};

template <typename Scanner>
std::unique_ptr<const Pattern::Matcher> make_scanner() {
  return std::make_unique<ScannerMatcher<Scanner>>();
}

struct ScannerRow {
  std::string_view regex;
  std::unique_ptr<const Pattern::Matcher> (*make)();
};

constexpr ScannerRow kScanners[] = {
    {Gpt2Scanner::kRegex, make_scanner<Gpt2Scanner>},
    {Cl100kScanner<3>::kRegex, make_scanner<Cl100kScanner<3>>},
    {Cl100kScanner<1>::kRegex, make_scanner<Cl100kScanner<1>>},
    {O200kScanner<true>::kRegex, make_scanner<O200kScanner<true>>},
    {O200kScanner<false>::kRegex, make_scanner<O200kScanner<false>>},
    {DeepSeekNumbersScanner::kRegex, make_scanner<DeepSeekNumbersScanner>},
    {DeepSeekIdeographsScanner::kRegex, make_scanner<DeepSeekIdeographsScanner>},
    {DeepSeekScanner::kRegex, make_scanner<DeepSeekScanner>},
};

}  // namespace

std::unique_ptr<const Pattern::Matcher> scanner_for(std::string_view regex) {
  for (const ScannerRow& row : kScanners) {
    if (row.regex == regex) return row.make();
  }
  return nullptr;
}

std::vector<std::string_view> scanned_patterns() {
  std::vector<std::string_view> patterns;
  for (const ScannerRow& row : kScanners) patterns.push_back(row.regex);
  return patterns;
}

}  // namespace alate::tokenizers
