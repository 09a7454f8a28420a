#include "tokenizers/regex/scanners.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "base/threads/cancellation.h"
#include "tokenizers/regex/regex_matcher.h"
#include "tokenizers/unicode/utf8.h"
#include "tokenizers/work_budget.h"

namespace alate::tokenizers {
namespace {

// What the patterns tell apart, and more.
constexpr std::string_view kBits[] = {
    "a",  "B",  "z",  "é",      "É",  "ǅ",    "ʰ",          "中", "の", "ー",     "\u0301", "\u0903", "1", "²",
    "Ⅷ",  "٣",  " ",  "  ",     "\t", "\n",   "\r",         "/",  "'",  "s",      "S",      "ſ",      "t", "T",
    "re", "RE", "ve", "m",      "ll", "LL",   "d",          "lL", "v",  "\u00a0", "\u3000", "\u0085", "-", "!",
    "$",  "—",  "€",  "\u200d", "😀", "\x01", "\U0010FFFF", "龥", "龦", "゠",     "\u303f",
};

std::string random_text(std::mt19937& random) {
  std::string text;
  const std::size_t count = random() % 24;
  for (std::size_t i = 0; i < count; ++i) {
    if (random() % 8 == 0) {
      const auto c = static_cast<char32_t>(random() % 0x110000);
      if (c < 0xD800 || c > 0xDFFF) append_utf8(text, c);
    } else {
      text += kBits[random() % std::size(kBits)];
    }
  }
  return text;
}

TEST(Scanners, FindWhatTheirRegexFinds) {
  const std::vector<std::string_view> patterns = scanned_patterns();
  ASSERT_EQ(patterns.size(), 8U);
  std::mt19937 random(20);
  for (const std::string_view pattern : patterns) {
    const auto scanner = scanner_for(pattern);
    const auto regex = compile_regex(pattern, "test");
    ASSERT_NE(scanner, nullptr);
    for (int i = 0; i < 4000; ++i) {
      const std::string text = random_text(random);
      std::vector<Span> scanned;
      std::vector<Span> matched;
      WorkBudget budget(base::Cancellation::never(), text.size());
      scanner->find_all(text, scanned, budget);
      regex->find_all(text, matched, budget);
      ASSERT_EQ(scanned, matched) << pattern << " on " << ::testing::PrintToString(text);
    }
  }
}

// Each code point between a letter and a space, where its class decides the borders. The other patterns ask for classes
// that these three ask for.
TEST(Scanners, ClassifyEveryCodePointAsTheirRegexDoes) {
  std::string text;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    text += "a";
    append_utf8(text, c);
    text += " ";
  }
  const std::vector<std::string_view> patterns = scanned_patterns();
  for (const std::string_view pattern : {patterns[1], patterns[3], patterns[7]}) {
    std::vector<Span> scanned;
    std::vector<Span> matched;
    WorkBudget budget(base::Cancellation::never(), text.size());
    scanner_for(pattern)->find_all(text, scanned, budget);
    compile_regex(pattern, "test")->find_all(text, matched, budget);
    EXPECT_TRUE(scanned == matched) << pattern;
  }
}

TEST(Scanners, AreForTheVeryTextOfAPattern) { EXPECT_EQ(scanner_for(R"(\p{N}{1,4})"), nullptr); }

}  // namespace
}  // namespace alate::tokenizers
