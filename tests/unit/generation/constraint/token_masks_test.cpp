#include "generation/constraint/token_masks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "constrained_texts.h"

namespace alate::generation {
namespace {

// A mask must have exactly the tokens after which the automaton is not dead, wherever the texts lead.
void expect_exact(const Grammar& grammar, const std::vector<std::string>& further,
                  const std::vector<std::string>& texts) {
  const auto vocabulary = vocabulary_with(further);
  TokenMasks masks(grammar.tables(), *vocabulary);
  Automaton& automaton = masks.automaton();
  for (const std::string& text : texts) {
    Automaton::StateId state = Automaton::kStart;
    for (std::size_t at = 0; at <= text.size() && state != Automaton::kDead; ++at) {
      const std::shared_ptr<const TokenMask> mask = masks.mask(state);
      for (std::size_t token = 0; token < vocabulary->size(); ++token) {
        Automaton::StateId after = state;
        for (const char byte : vocabulary->text(static_cast<std::int32_t>(token)))
          after = automaton.step(after, static_cast<std::uint8_t>(byte));
        EXPECT_EQ(has_token(*mask, token), after != Automaton::kDead)
            << "token " << token << " after " << text.substr(0, at);
      }
      if (at < text.size()) state = automaton.step(state, static_cast<std::uint8_t>(text[at]));
    }
    EXPECT_NE(state, Automaton::kDead) << text;
  }
}

const std::vector<std::string> kJsonTokens = {
    "{\"",        "\":", "\": ",  "\",",    "\", \"", "\"}",    "\"}}",
    "},",         "}}",  "]}",    "],",     "[1",     "true",   "false}",
    "null,",      "12",  "a\"",   "\"a\":", "abc",    " \"",    "\n  ",
    "\",\n  \"",  "\\n", "\\u00", "é",      "\xC3",   "\xA9\"", "\"b\": {\"a\": 1}}",
    "e\", \"b\"", "1}",  "1,",    ", "};

TEST(TokenMasks, HaveExactlyTheTokensThatCanFollow) {
  expect_exact(*compiled(Kind::json, ""), kJsonTokens,
               {R"({"a": [1, "x\n\u00e9é", {"b": {"a": 1}}], "b": null})", "{}", "{\n  \"a\": true\n}"});
  expect_exact(
      *compiled(Kind::json_schema, R"({"type": "object", "properties": {"a": {"type": "string", "maxLength": 3},
                 "b": {"type": "object", "properties": {"a": {"type": "integer"}}}}, "required": ["a"]})"),
      kJsonTokens, {R"({"a": "abc", "b": {"a": 12}})", R"({"a":"é"})"});
  expect_exact(*compiled(Kind::regex, "(a|ab|abc){2,100}1?[^x]"), {"abc", "abca", "ab", "aa", "abab", "1é", "1x"},
               {"abcabab1y", "aaabab1é"});
  expect_exact(*compiled(Kind::grammar, "root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"d\""),
               {"aa", "ad", "db", "dbc", "bb", "adc"}, {"aaadbcb"});
}

TEST(TokenMasks, CountsThatATokenCannotReachAreOne) {
  const auto grammar = compiled(Kind::json_schema, R"({"type": "string", "minLength": 500, "maxLength": 1000})");
  const auto vocabulary = vocabulary_with({"abcdefgh", "abc\"", "é"});
  TokenMasks masks(grammar->tables(), *vocabulary);
  Automaton::StateId state = masks.after_token(Automaton::kStart, '"', true);
  const std::size_t before = masks.bytes();
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(has_token(*masks.mask(state), 256));
    EXPECT_FALSE(has_token(*masks.mask(state), 257));
    state = masks.after_token(state, 256, false);
  }
  for (int i = 0; i < 200; ++i) state = masks.after_token(state, 'x', false);
  EXPECT_FALSE(has_token(*masks.mask(state), 256)) << "1000 are there";
  EXPECT_TRUE(has_token(*masks.mask(state), '"'));
  EXPECT_LT(masks.bytes() - before, 3'000'000U);
}

TEST(TokenMasks, AFirstTokenMayLoseItsSpace) {
  std::vector<std::string> texts = {" w1", " w2", "w1", "1", " ", "w"};
  const Vocabulary vocabulary(texts, true);
  const auto grammar = compiled(Kind::regex, "w1( w2)?");
  TokenMasks masks(grammar->tables(), vocabulary);
  const auto first = masks.first_mask(Automaton::kStart);
  EXPECT_EQ(first->front(), 0b100101U);
  const Automaton::StateId second = masks.after_token(Automaton::kStart, 0, true);
  EXPECT_TRUE(masks.automaton().state(second).is_complete);
  EXPECT_EQ(masks.mask(second)->front(), 0b10010U);
  EXPECT_EQ(masks.after_token(Automaton::kStart, 0, false), Automaton::kDead);
}

TEST(TokenMasks, NamedTokensAreAllowedWhereTheGrammarHasThem) {
  GrammarBuilder builder;
  const Trigger trigger{builder.token(256), builder.sequence({builder.json_object(), builder.token(257)})};
  const auto grammar = builder.build(builder.triggered(std::span(&trigger, 1), true), "the grammar");
  std::vector<std::string> texts;
  for (int byte = 0; byte < 256; ++byte) texts.emplace_back(1, static_cast<char>(byte));
  texts.resize(258);
  const Vocabulary vocabulary(texts);
  TokenMasks masks(grammar->tables(), vocabulary);
  Automaton::StateId state = Automaton::kStart;
  const auto take = [&](std::int32_t token) {
    EXPECT_TRUE(has_token(*masks.mask(state), static_cast<std::size_t>(token))) << token;
    state = masks.after_token(state, token, false);
  };
  take('h');
  EXPECT_FALSE(has_token(*masks.mask(state), 257));
  EXPECT_FALSE(masks.automaton().state(state).is_complete);
  take(256);
  EXPECT_FALSE(has_token(*masks.mask(state), 'h'));
  take('{');
  take('}');
  EXPECT_FALSE(has_token(*masks.mask(state), 256));
  take(257);
  EXPECT_TRUE(masks.automaton().state(state).is_complete);
  EXPECT_EQ(*masks.mask(state), TokenMask(vocabulary.mask_words(), 0));
}

}  // namespace
}  // namespace alate::generation
