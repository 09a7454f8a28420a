// SentencePiece's compiled rules with tries made by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/threads/cancellation.h"
#include "formats/little_endian.h"
#include "tests/unit/base/expect_error.h"
#include "tokenizers/normalizers/normalizer.h"
#include "tokenizers/work_budget.h"

namespace alate::tokenizers {
namespace {

// The unit of a node: its label, whether a key ends there, and the distance to its children.
constexpr std::uint32_t unit(unsigned char label, bool ends, std::uint32_t offset) {
  return label | std::uint32_t{ends} << 8 | offset << 10;
}

// A trie in which each of the bytes is a key, with the offset of its replacement.
std::string rules(const std::vector<std::pair<unsigned char, std::uint32_t>>& keys, std::string_view replacements) {
  std::vector<std::uint32_t> units(1024);
  units[0] = unit(0, false, 256);
  std::uint32_t leaf = 512;
  for (const auto& [byte, replacement] : keys) {
    units[256 ^ byte] = unit(byte, true, (256U ^ byte) ^ leaf);
    units[leaf++] = replacement;
  }
  std::string charsmap;
  formats::append_little_endian(charsmap, static_cast<std::uint32_t>(4 * units.size()));
  for (const std::uint32_t each : units) formats::append_little_endian(charsmap, each);
  return charsmap.append(replacements);
}

std::string normalized(const std::string& charsmap, std::string_view text) {
  WorkBudget budget(base::Cancellation::never(), text.size());
  AlignedText aligned(text, {0, static_cast<std::uint32_t>(text.size())}, true, budget);
  precompiled(charsmap, "rules")->apply(aligned);
  return std::string(aligned.text());
}

TEST(Precompiled, ReplacesByTheTrie) {
  const std::string charsmap = rules({{'a', 0}, {'b', 3}, {'c', 4}}, std::string_view("xy\0\0\xC3\xA9\0", 7));
  EXPECT_EQ(normalized(charsmap, "a-b-c-d"), "xy--\xC3\xA9-d");
  EXPECT_EQ(normalized(charsmap, "bb"), "");
}

// A cluster of less than 6 bytes is looked up whole, and the shortest key that it begins with is taken for all of it.
TEST(Precompiled, ClustersAreLookedUpWhole) {
  const std::string charsmap = rules({{'a', 0}}, std::string_view("X\0", 2));
  EXPECT_EQ(normalized(charsmap, "a\u0301b"), "Xb");
  EXPECT_EQ(normalized(charsmap, "a\u0301\u0301\u0301"), "X\u0301\u0301\u0301");  // 7 bytes: code point by code point
}

// In the reference ©, a joiner and ® are one cluster of 7 bytes, as emoji with joiners are.
TEST(Precompiled, JoinedPictographsAreOneCluster) {
  const std::string charsmap = rules({{0xC2, 0}, {0xF0, 0}}, std::string_view("X\0", 2));
  EXPECT_EQ(normalized(charsmap, "\u00A9\u200D\u00AE"), "X\u200DX");
  EXPECT_EQ(normalized(charsmap, "\u00A9\u200Da"), "Xa");
  EXPECT_EQ(normalized(charsmap, "\U0001F469\u200D\u00AE\u0301"), "X\u200DX\u0301");
}

TEST(Precompiled, OffsetsAreOfTheOriginal) {
  const std::string text = "a-b";
  WorkBudget budget(base::Cancellation::never(), text.size());
  AlignedText aligned(text, {0, 3}, true, budget);
  precompiled(rules({{'a', 0}, {'b', 4}}, std::string_view("xyz\0z\0", 6)), "rules")->apply(aligned);
  ASSERT_EQ(aligned.text(), "xyz-z");
  EXPECT_EQ(aligned.source(Span{0, 3}), (Span{0, 1}));
  EXPECT_EQ(aligned.source(Span{4, 5}), (Span{2, 3}));
}

TEST(Precompiled, RefusesRulesThatContradictThemselves) {
  const auto refused = [](const std::string& charsmap) {
    return base::error_of([&] { precompiled(charsmap, "rules"); }).code() == ErrorCode::corrupt;
  };
  EXPECT_TRUE(refused("abc"));
  EXPECT_TRUE(refused(std::string(4, '\0')));
  EXPECT_TRUE(refused(std::string("\x06\0\0\0abcdef", 10)));
  EXPECT_TRUE(refused(std::string("\xFF\xFF\xFF\x7F", 4) + "abcd"));
  EXPECT_TRUE(refused(rules({}, "\xFF")));
}

// Offsets outside the replacements, or inside a character, replace nothing.
TEST(Precompiled, FollowsNoOffsetThatLeadsNowhere) {
  EXPECT_EQ(normalized(rules({{'a', 100}}, "x"), "a"), "a");
  EXPECT_EQ(normalized(rules({{'a', 1}}, "\xC3\xA9"), "a"), "a");
  EXPECT_EQ(normalized(std::string("\x04\0\0\0\xFF\xFF\xFF\xFF", 8), "a"), "a");
}

}  // namespace
}  // namespace alate::tokenizers
