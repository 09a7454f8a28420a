#include <gtest/gtest.h>

#include <string>

#include "constrained_texts.h"

namespace alate::generation {
namespace {

std::shared_ptr<const Grammar> gbnf(std::string_view grammar) { return compiled(Kind::grammar, grammar); }

// The grammar of JSON in llama.cpp's notation.
constexpr std::string_view kJson = R"gbnf(
# a comment
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws

object ::=
  "{" ws (
            string ":" ws value
    ("," ws string ":" ws value)*
  )? "}" ws

array  ::=
  "[" ws (
            value
    ("," ws value)*
  )? "]" ws

string ::=
  "\"" (
    [^"\\\x7F\x00-\x1F] |
    "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) # escapes
  )* "\"" ws

number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws ::= | " " | "\n" [ \t]{0,20}
)gbnf";

TEST(Gbnf, ReadsAGrammarOfJson) {
  const auto grammar = gbnf(kJson);
  EXPECT_TRUE(fits(*grammar, R"({"a": [1, 2.5e3, {"b": null}], "é\n": "x"})"));
  EXPECT_TRUE(fits(*grammar, "{}"));
  EXPECT_EQ(fit(*grammar, R"({"a": )"), Fit::begins);
  EXPECT_EQ(fit(*grammar, R"({"a" 1})"), Fit::no);
  std::string deep = R"({"a":)";
  for (int i = 0; i < 2000; ++i) deep += '[';
  for (int i = 0; i < 2000; ++i) deep += ']';
  EXPECT_TRUE(fits(*grammar, deep + "}"));
  EXPECT_EQ(fit(*grammar, deep + "]}"), Fit::no);
}

TEST(Gbnf, ReadsEscapesClassesAndCounts) {
  const auto grammar = gbnf("root ::= \"\\x41\\u00e9\\U0001F600\\t\" [a-c\\]x-]{2} [^\\n]{1,} . \"z\"{,2}");
  EXPECT_TRUE(fits(*grammar, "Aé😀\ta]qq"));
  EXPECT_TRUE(fits(*grammar, "Aé😀\t-xqqzz"));
  EXPECT_FALSE(fits(*grammar, "Aé😀\tdxqq"));
}

TEST(Gbnf, RecursionInTheMiddleAndAtTheEnd) {
  const auto middle = gbnf("root ::= \"a\" root \"b\" | \"c\"");
  EXPECT_TRUE(fits(*middle, std::string(500, 'a') + "c" + std::string(500, 'b')));
  EXPECT_FALSE(fits(*middle, "aacb"));
  const auto end = gbnf("root ::= item root | item\nitem ::= [a-z] \",\"");
  EXPECT_TRUE(fits(*end, "a,b,c,"));
  EXPECT_EQ(fit(*end, "a,b"), Fit::begins);
}

TEST(Gbnf, AmbiguityDoesNotMultiply) {
  const auto grammar = gbnf("root ::= \"a\" x \"b\" | \"a\" y \"c\" | \"d\"\nx ::= root\ny ::= root");
  EXPECT_TRUE(fits(*grammar, std::string(60, 'a') + "d" + std::string(30, 'b') + std::string(30, 'c')));
  EXPECT_EQ(fit(*grammar, std::string(60, 'a')), Fit::begins);
}

TEST(Gbnf, AmbiguityIsBounded) {
  std::string grammar = "root ::= part{1,1000000}\npart ::= \"a\"";
  for (int i = 2; i <= 16; ++i) grammar += " | \"" + std::string(static_cast<std::size_t>(i), 'a') + "\"";
  const auto ambiguous = gbnf(grammar);
  EXPECT_TRUE(fits(*ambiguous, std::string(50, 'a')));
  expect_refused([&] { fits(*ambiguous, std::string(10'000, 'a')); }, "too ambiguous");
}

TEST(Gbnf, RulesThatMayBeEmptyArePassedOver) {
  const auto grammar = gbnf("root ::= ws \"a\" ws tail\nws ::= \" \"*\ntail ::= ws | ws \"!\" ws");
  EXPECT_TRUE(fits(*grammar, "a"));
  EXPECT_TRUE(fits(*grammar, "  a !  "));
  EXPECT_FALSE(fits(*grammar, "  a !!"));
}

TEST(Gbnf, RefusesLeftRecursion) {
  expect_refused([&] { gbnf("root ::= root \"a\" | \"b\""); }, "left recursion");
  expect_refused([&] { gbnf("root ::= ws a\nws ::= \" \"*\na ::= b \"x\" | \"y\"\nb ::= ws a"); }, "left recursion");
}

TEST(Gbnf, NamesTheLineThatIsWrong) {
  expect_refused([&] { gbnf("root ::= \"a\"\nx ::= [b-a]"); }, "line 2.*order");
  expect_refused([&] { gbnf("root ::= \"a"); }, "line 1.*no end");
  expect_refused([&] { gbnf("root ::= missing"); }, "missing.*lacks");
  expect_refused([&] { gbnf("x ::= \"a\""); }, "root");
  expect_refused([&] { gbnf("root ::= \"a\"\nroot ::= \"b\""); }, "before");
  expect_refused([&] { gbnf("root ::= (\"a\""); }, "parenthesis");
  expect_refused([&] { gbnf("root ::= \"a\"{3,1}"); }, "greatest");
  expect_refused([&] { gbnf("root ::= \"a\" )"); }, "line");
  expect_refused([&] { gbnf("root ::= x\nx ::= \"a\" x"); }, "no text");
}

}  // namespace
}  // namespace alate::generation
