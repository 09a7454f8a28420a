#include "tokenizers/regex/pattern.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/threads/cancellation.h"
#include "tests/unit/base/expect_error.h"
#include "tokenizers/work_budget.h"

namespace alate::tokenizers {
namespace {

std::vector<Span> spans_of(const PatternText& pattern, std::string_view text) {
  std::vector<Span> spans;
  WorkBudget budget(base::Cancellation::never(), text.size());
  Pattern(pattern, "test").find_all(text, spans, budget);
  return spans;
}

std::vector<std::string> found(const std::string& regex, std::string_view text, bool is_regex = true) {
  std::vector<std::string> matches;
  for (const Span span : spans_of({regex, is_regex}, text))
    matches.emplace_back(text.substr(span.begin, span.end - span.begin));
  return matches;
}

ErrorCode refusal(const std::string& regex) {
  try {
    const Pattern pattern({regex, true}, "test");
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "not refused: " << regex;
  return ErrorCode::internal;
}

using Texts = std::vector<std::string>;

TEST(Pattern, FindsALiteralText) {
  EXPECT_EQ(found("a.b", "a.bacb a.b", false), (Texts{"a.b", "a.b"}));
  EXPECT_EQ(found("aa", "aaaaa", false), (Texts{"aa", "aa"}));
}

// Its bytes begin the hiragana か in the text.
TEST(Pattern, RefusesALiteralOfHalfACodePoint) {
  const Error error = base::error_of([] { return spans_of({"\xE3\x81", false}, "か"); });
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_STREQ(error.what(), "test: the text to look for is not UTF-8");
}

TEST(Pattern, EmptyLiteralMatchesBetweenCodePoints) {
  EXPECT_EQ(spans_of({"", false}, "aé"), (std::vector<Span>{{0, 0}, {1, 1}, {3, 3}}));
}

TEST(Pattern, EmptyMatchesFollowNoOther) {
  EXPECT_EQ(spans_of({"a*", true}, "baac"), (std::vector<Span>{{0, 0}, {1, 3}, {4, 4}}));
}

TEST(Pattern, KnowsUnicodeClasses) {
  EXPECT_EQ(found(R"(\p{Lu})", "aÀbБ\U00010D50"), (Texts{"À", "Б", "\U00010D50"}));
  EXPECT_EQ(found(R"(\p{Han}+)", "中文 かな"), Texts{"中文"});
  EXPECT_EQ(found(R"([\p{L}&&[^\p{Han}]]+)", "中文abc中é"), (Texts{"abc", "é"}));
  EXPECT_EQ(found(R"([[:punct:]]+)", "a+-*b"), Texts{"+-*"});
}

// In the reference \w counts superscript digits as words' outside of brackets only.
TEST(Pattern, WordsDifferInBrackets) {
  EXPECT_EQ(found(R"(\w+)", "x²"), Texts{"x²"});
  EXPECT_EQ(found(R"([\w]+)", "x²"), Texts{"x"});
}

TEST(Pattern, IgnoresCaseWithUnicodeVariants) {
  EXPECT_EQ(found("(?i:'s)", "'s 'S 'ſ"), (Texts{"'s", "'S", "'ſ"}));
  EXPECT_EQ(found("a(?i)b|c", "aB aC C"), (Texts{"aB", "aC"}));
}

TEST(Pattern, RepeatsAsOnigurumaDoes) {
  EXPECT_EQ(found("a++b", "aab"), Texts{"aab"});
  EXPECT_EQ(found("a*+a", "aaa"), Texts{});
  EXPECT_EQ(found("a{,2}b", "aaab"), Texts{"aab"});
  EXPECT_EQ(found("a{x}", "a{x}"), Texts{"a{x}"});
}

TEST(Pattern, LooksAround) {
  EXPECT_EQ(found(R"(\s+(?!\S)|\s+)", "a  b "), (Texts{" ", " ", " "}));
  EXPECT_EQ(found("(?<=ab|c)d", "abd cd d"), (Texts{"d", "d"}));
}

TEST(Pattern, LinesBeginAndEnd) {
  EXPECT_EQ(found("^.", "a\nb\n"), (Texts{"a", "b"}));
  EXPECT_EQ(found(".$", "a\nb"), (Texts{"a", "b"}));
}

TEST(Pattern, RefusesWhatItCannotDo) {
  for (const char* regex : {R"((a)\1)", R"(\k<n>)", R"(\X)", R"(\G)", "(?~a)", R"(\p{Nonsense})", "(?i)ß", "(?i)ss"})
    EXPECT_EQ(refusal(regex), ErrorCode::unsupported) << regex;
}

TEST(Pattern, RefusesMalformedExpressions) {
  for (const char* regex : {"(", ")", "[a", "a\\", "*a", "[z-a]", "\xFF", "[[:nonsense:]]"})
    EXPECT_EQ(refusal(regex), ErrorCode::corrupt) << regex;
}

TEST(Pattern, RefusesWhatIsTooLarge) {
  EXPECT_EQ(refusal(std::string(20000, 'a')), ErrorCode::resource_exhausted);
  EXPECT_EQ(refusal(std::string(500, '(') + std::string(500, ')')), ErrorCode::resource_exhausted);
  EXPECT_EQ(refusal(std::string(500, '[') + "a" + std::string(500, ']')), ErrorCode::resource_exhausted);
  EXPECT_EQ(refusal("((a{1000}){1000}){1000}"), ErrorCode::unsupported);
}

TEST(Pattern, StopsBacktrackingWithoutEnd) {
  // Without a b it is seen at once that there is no match.
  const Error error = base::error_of([] { spans_of({"(a|aa)+[bc]", true}, std::string(5000, 'a') + "db"); });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(error.message().find("(a|aa)+"), std::string::npos);
}

TEST(Pattern, WhatTakesManyStepsIsFoundAllTheSame) {
  // More steps than a quick search of many starts may do, and fewer than one start may.
  EXPECT_EQ(found("a*a*(?!a)[bc]", std::string(300, 'a') + "dab"), (Texts{"ab"}));
}

TEST(Pattern, SearchesOfATextShareItsTime) {
  const Pattern pattern({"x?y", true}, "test");
  WorkBudget budget(base::Cancellation::never(), 0);
  EXPECT_TRUE(budget.spend_search_time(std::chrono::seconds(4)));
  std::vector<Span> spans;
  pattern.find_all(std::string(20'000, 'x'), spans, budget);
  budget.spend_search_time(std::chrono::seconds(2));
  const Error error = base::error_of([&] { pattern.find_all(std::string(20'000, 'x'), spans, budget); });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(error.message().find("takes too long"), std::string::npos);
}

TEST(Pattern, ASearchCanBeCancelled) {
  const auto yes = [] { return true; };
  WorkBudget budget(base::Cancellation::when(yes), 0);
  std::vector<Span> spans;
  const Pattern pattern({"x", true}, "test");
  EXPECT_EQ(base::error_of([&] { pattern.find_all(std::string(20, 'x'), spans, budget); }).code(),
            ErrorCode::cancelled);
}

}  // namespace
}  // namespace alate::tokenizers
