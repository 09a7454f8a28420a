#include <gtest/gtest.h>

#include <string>

#include "constrained_texts.h"

namespace alate::generation {
namespace {

std::shared_ptr<const Grammar> regex(std::string_view pattern) { return compiled(Kind::regex, pattern); }

TEST(RegexGrammar, MatchesTheWholeText) {
  const auto grammar = regex("a(b|c)*d");
  EXPECT_TRUE(fits(*grammar, "ad"));
  EXPECT_TRUE(fits(*grammar, "abcbcd"));
  EXPECT_EQ(fit(*grammar, "abc"), Fit::begins);
  EXPECT_EQ(fit(*grammar, "ade"), Fit::no);
  EXPECT_EQ(fit(*grammar, "xad"), Fit::no);
}

TEST(RegexGrammar, CountsRepetitions) {
  const auto grammar = regex("(ab){2,3}[0-9]{100}x?");
  const std::string digits(100, '7');
  EXPECT_TRUE(fits(*grammar, "abab" + digits));
  EXPECT_TRUE(fits(*grammar, "ababab" + digits + "x"));
  EXPECT_FALSE(fits(*grammar, "ab" + digits));
  EXPECT_FALSE(fits(*grammar, "abababab" + digits));
  EXPECT_FALSE(fits(*grammar, "abab" + digits + "7"));
  EXPECT_EQ(fit(*grammar, "abab" + digits.substr(1)), Fit::begins);
}

TEST(RegexGrammar, CountsInsideOfCounts) {
  const auto grammar = regex("((a{50}b){50}c){2}");
  std::string once;
  for (int i = 0; i < 50; ++i) once += std::string(50, 'a') + "b";
  once += "c";
  EXPECT_TRUE(fits(*grammar, once + once));
  EXPECT_EQ(fit(*grammar, once), Fit::begins);
  EXPECT_EQ(fit(*grammar, once + once + "a"), Fit::no);
  EXPECT_EQ(fit(*grammar, "a" + once), Fit::no);
}

TEST(RegexGrammar, PartsThatMayBeEmptyMayBeRepeated) {
  const auto grammar = regex("(a*){3,70}(b?|c*){100}");
  EXPECT_TRUE(fits(*grammar, ""));
  EXPECT_TRUE(fits(*grammar, "aaaabbc"));
  EXPECT_FALSE(fits(*grammar, "ba"));
}

TEST(RegexGrammar, CodePointsAreUtf8) {
  const auto grammar = regex("[à-ÿ😀-😎]+.");
  EXPECT_TRUE(fits(*grammar, "é😃x"));
  EXPECT_TRUE(fits(*grammar, "é😃€"));
  EXPECT_EQ(fit(*grammar, "é\xF0\x9F"), Fit::begins);
  EXPECT_EQ(fit(*grammar, "é\xFF"), Fit::no);
  EXPECT_EQ(fit(*grammar, "\xC3"), Fit::begins);
  EXPECT_EQ(fit(*grammar, "é\xED\xA0"), Fit::no) << "a surrogate";
  EXPECT_EQ(fit(*grammar, "é\xC0"), Fit::no) << "an overlong form";
}

TEST(RegexGrammar, ClassesAreThoseOfAscii) {
  EXPECT_TRUE(fits(*regex("\\d\\w\\s"), "7_ "));
  EXPECT_FALSE(fits(*regex("\\d"), "٣"));
  EXPECT_FALSE(fits(*regex("\\D"), "٣"));
  EXPECT_TRUE(fits(*regex("\\D"), "é"));
  EXPECT_FALSE(fits(*regex("."), "\r"));
}

TEST(RegexGrammar, AnchorsAtTheEdgesChangeNothing) {
  for (const char* pattern : {"^ab$", "^(ab)$", "(^ab$)", "\\Aab\\z", "^^ab"}) {
    EXPECT_TRUE(fits(*regex(pattern), "ab")) << pattern;
    EXPECT_FALSE(fits(*regex(pattern), "abb")) << pattern;
  }
}

TEST(RegexGrammar, RefusesWhatIsNotSupported) {
  for (const char* pattern : {"(a)\\1", "(?=a)b", "a(?<!b)", "a\\b", "a++", "(?>a)", "a^b", "a$b", "\\K", "(", "[z-a]"})
    expect_refused([&] { regex(pattern); }, "regular expression of the output");
}

TEST(RegexGrammar, RefusesWhatExplodes) {
  // The subsets of the last 40 letters.
  expect_refused([&] { regex("(a|b)*a((a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)){4}"); }, "compile|large");
  EXPECT_TRUE(fits(*regex("(((((a{1000}){1000}){1000}){1000}){1000})?b"), "b"));
  expect_refused([&] { regex(std::string(20'000, 'a')); }, "bytes");
  expect_refused([&] { regex(std::string(100, '(') + std::string(100, ')')); }, "nested");
}

TEST(RegexGrammar, RefusesWhatHasNoText) {
  expect_refused([&] { regex("a[^\\x{0}-\\x{10FFFF}]"); }, "no text");
}

}  // namespace
}  // namespace alate::generation
