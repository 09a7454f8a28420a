#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tokenizers/token_matcher.h"

namespace alate::tokenizers {
namespace {

using Tokens = std::vector<std::pair<std::string, std::int32_t>>;

std::string matches(const TokenMatcher& matcher, std::string_view text) {
  std::vector<TokenMatcher::Found> found;
  WorkBudget budget(base::Cancellation::never(), text.size());
  matcher.find_all(text, found, budget);
  std::string list;
  for (const auto& [begin, end, id] : found)
    list += std::to_string(begin) + "-" + std::to_string(end) + ":" + std::to_string(id) + " ";
  return list;
}

TEST(TokenMatcher, TakesTheLeftmostAndOfThoseTheLongest) {
  const TokenMatcher matcher({{"ab", 1}, {"abcd", 2}, {"bc", 3}, {"x", 4}, {"x", 5}});
  EXPECT_EQ(matches(matcher, "__abcx"), "2-4:1 5-6:4 ");  // of equal tokens the lowest id
  EXPECT_EQ(matches(matcher, "abcdabcbcd"), "0-4:2 4-6:1 7-9:3 ");
  EXPECT_EQ(matches(matcher, "acbd"), "");
  EXPECT_EQ(matches(TokenMatcher(), "abc"), "");
}

// The first tokens by trying each at each place.
std::string tried(const Tokens& tokens, std::string_view text) {
  std::string list;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::pair<std::string, std::int32_t>* longest = nullptr;
    for (const auto& token : tokens) {
      if (!text.substr(begin).starts_with(token.first)) continue;
      if (longest == nullptr || token.first.size() > longest->first.size()) longest = &token;
    }
    if (longest == nullptr) {
      ++begin;
      continue;
    }
    list += std::to_string(begin) + "-" + std::to_string(begin + longest->first.size()) + ":" +
            std::to_string(longest->second) + " ";
    begin += longest->first.size();
  }
  return list;
}

TEST(TokenMatcher, FindsWhatTryingEachTokenFinds) {
  std::mt19937 random(31);
  const auto word = [&](std::size_t length) {
    std::string text;
    while (text.size() < length) text += static_cast<char>('a' + random() % 2);
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    Tokens tokens;
    for (std::int32_t id = 0; id < 8; ++id) {
      const std::string token = word(1 + random() % 6);
      if (std::none_of(tokens.begin(), tokens.end(), [&](const auto& known) { return known.first == token; }))
        tokens.emplace_back(token, id);
    }
    // A long token makes it search backward.
    if (round % 2 == 0) tokens.emplace_back(std::string(200, 'a') + "b", 99);
    const std::string text = word(60) + std::string(random() % 300, 'a') + "b" + word(20);
    EXPECT_EQ(matches(TokenMatcher(tokens), text), tried(tokens, text));
  }
}

TEST(TokenMatcher, LongTokensThatNearlyMatchEverywhereTakeLinearTime) {
  const TokenMatcher matcher({{std::string(4000, 'a') + "b", 1}, {"a", 2}});
  std::vector<TokenMatcher::Found> found;
  WorkBudget budget(base::Cancellation::never(), 1'000'000);
  matcher.find_all(std::string(1'000'000, 'a'), found, budget);
  EXPECT_EQ(found.size(), 1'000'000u);
}

}  // namespace
}  // namespace alate::tokenizers
