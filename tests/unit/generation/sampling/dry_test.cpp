#include "generation/sampling/dry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/philox.h"
#include "generation/sampling/logit_row.h"

namespace alate::generation {
namespace {

using Tokens = std::vector<std::int32_t>;
using Row = std::vector<float>;

// Tokens are the letters of a text: token 0 is 'a'.
Tokens letters(const std::string& text) {
  Tokens tokens;
  for (const char c : text) tokens.push_back(c - 'a');
  return tokens;
}

DryBreakers breakers_of(const std::vector<std::string>& breakers, const std::vector<std::string>& vocabulary) {
  const auto find = [&](std::string_view text) {
    const auto token = std::ranges::find(vocabulary, text);
    return token == vocabulary.end() ? Tokens{} : Tokens{static_cast<std::int32_t>(token - vocabulary.begin())};
  };
  return DryBreakers(
      breakers, vocabulary.size(), [&](std::int32_t token) { return vocabulary[static_cast<std::size_t>(token)]; },
      find);
}

Row after_dry(const SamplingOptions& options, const Tokens& tokens, const DryBreakers& breakers = {},
              std::size_t size = 26) {
  Row row(size);
  std::vector<std::uint32_t> counts(size), lengths;
  apply_dry(options, tokens, breakers, row, counts, lengths);
  EXPECT_EQ(counts, std::vector<std::uint32_t>(size)) << "counts are given back as they came";
  return row;
}

// By the definition, in cubic time: the longest repetition that each token would continue, or 0.
std::vector<std::size_t> repetitions(const Tokens& tokens, std::size_t longest, std::size_t size) {
  std::vector<std::size_t> result(size);
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    std::size_t length = 0;
    while (length < at && length < longest && tokens[at - 1 - length] == tokens[tokens.size() - 1 - length]) ++length;
    std::size_t& best = result[static_cast<std::size_t>(tokens[at])];
    best = std::max(best, length);
  }
  return result;
}

TEST(Dry, PenalizesContinuationsByTheLengthOfTheRepetition) {
  // After "abc" at the end: the first "abc" is followed by c (3 tokens), "bc" by y (2 tokens), "c" by b (1 token).
  const Row row = after_dry({.dry_multiplier = 0.5, .dry_base = 2, .dry_allowed_length = 2}, letters("abccbcyabc"));
  Row expected(26);
  expected['c' - 'a'] = -1;    // 0.5 * 2^1
  expected['y' - 'a'] = -0.5;  // 0.5 * 2^0
  EXPECT_EQ(row, expected);
}

TEST(Dry, FollowsItsDefinitionOnRandomTexts) {
  const SamplingOptions options = {.dry_multiplier = 0.8, .dry_base = 1.5, .dry_allowed_length = 2};
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Tokens tokens;
    for (std::uint64_t i = 0; i < 3 + seed % 40; ++i)
      tokens.push_back(static_cast<std::int32_t>(base::philox(seed, i, 0)[0] % (2 + seed % 3)));
    const std::vector<std::size_t> lengths = repetitions(tokens, tokens.size(), 4);
    const Row row = after_dry(options, tokens, {}, 4);
    for (std::size_t token = 0; token < row.size(); ++token) {
      const double penalty = lengths[token] < 2 ? 0 : 0.8 * std::pow(1.5, static_cast<double>(lengths[token] - 2));
      ASSERT_FLOAT_EQ(row[token], static_cast<float>(-penalty)) << seed;
    }
  }
}

TEST(Dry, DoesNotGoBackOverABreaker) {
  const DryBreakers breakers = breakers_of({"x"}, {"a", "b", "c", "x"});
  const SamplingOptions options = {.dry_multiplier = 1, .dry_base = 2, .dry_allowed_length = 1};
  // "axbc axb": without the breaker, c would continue three tokens; since x, one.
  const Tokens tokens = {0, 3, 1, 2, 0, 3, 1};
  EXPECT_EQ(after_dry(options, tokens, {}, 4), (Row{0, 0, -4, 0}));
  EXPECT_EQ(after_dry(options, tokens, breakers, 4), (Row{0, 0, -1, 0}));
}

TEST(Dry, NeverPenalizesABreaker) {
  const DryBreakers breakers = breakers_of({"x"}, {"a", "b", "c", "x"});
  const SamplingOptions options = {.dry_multiplier = 1, .dry_base = 2, .dry_allowed_length = 1};
  EXPECT_EQ(after_dry(options, {0, 1, 3, 2, 0, 1}, {}, 4), (Row{0, 0, 0, -2}));
  EXPECT_EQ(after_dry(options, {0, 1, 3, 2, 0, 1}, breakers, 4), (Row{0, 0, 0, 0}));
}

TEST(Dry, StaysFinite) {
  const SamplingOptions options = {.dry_multiplier = 1000, .dry_base = 100, .dry_allowed_length = 1};
  const Row row = after_dry(options, Tokens(500, 0), {}, 2);
  EXPECT_EQ(row[0], -std::numeric_limits<float>::max());
}

TEST(DryBreakers, AreFoundAcrossTokens) {
  // "\n\n" is in token 1, ends with token 2's second half when another newline follows, and is tokens 0 0 too.
  const DryBreakers breakers = breakers_of({"\n\n"}, {"\n", ".\n\n", "a\n", "b"});
  EXPECT_TRUE(breakers.is_breaker(1));
  EXPECT_FALSE(breakers.is_breaker(0));
  EXPECT_FALSE(breakers.is_breaker(2));
  EXPECT_EQ(breakers.tokens_since(Tokens{3, 1, 3, 3}), 2U);
  EXPECT_EQ(breakers.tokens_since(Tokens{3, 2, 0, 3}), 1U);
  EXPECT_EQ(breakers.tokens_since(Tokens{3, 0, 0}), 0U);
  EXPECT_EQ(breakers.tokens_since(Tokens{3, 2, 3, 0}), 4U);
  EXPECT_EQ(DryBreakers().tokens_since(Tokens{3, 2}), 2U);
}

}  // namespace
}  // namespace alate::generation
