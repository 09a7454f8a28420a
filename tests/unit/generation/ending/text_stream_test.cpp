#include "generation/ending/text_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/philox.h"

namespace alate::generation {
namespace {

using Texts = std::vector<std::string>;

// What is shown after each of the pieces, and at the end.
Texts shown(TextStream& stream, const Texts& pieces) {
  Texts result;
  for (const std::string& piece : pieces) stream.push(piece, result.emplace_back());
  stream.finish(result.emplace_back());
  return result;
}

Texts shown(const Texts& stops, const Texts& pieces, bool include_stop = false) {
  TextStream stream(stops, include_stop);
  return shown(stream, pieces);
}

TEST(TextStream, ShowsTextAtOnceWithoutStopTexts) { EXPECT_EQ(shown({}, {"a", "bc"}), (Texts{"a", "bc", ""})); }

TEST(TextStream, HoldsTextInWhichAStopTextMayBegin) {
  EXPECT_EQ(shown({"END"}, {"fri", "E", "ND!"}), (Texts{"fri", "", "", ""}));
  EXPECT_EQ(shown({"END"}, {"friEN", "EN", "emy"}), (Texts{"fri", "EN", "ENemy", ""}));
  EXPECT_EQ(shown({"END"}, {"friEN"}), (Texts{"fri", "EN"})) << "the end shows what was held";
}

TEST(TextStream, EndsBeforeOrBehindTheStopText) {
  EXPECT_EQ(shown({"##"}, {"a#", "#b"}), (Texts{"a", "", ""}));
  EXPECT_EQ(shown({"##"}, {"a#", "#b", "c"}, true), (Texts{"a", "##", "", ""}));
}

TEST(TextStream, TheFirstCompleteStopTextCountsOfThoseTheLongest) {
  TextStream stream(Texts{"abcd", "bc", "abc"});
  EXPECT_EQ(shown(stream, {"xabcd"}), (Texts{"x", ""}));
  EXPECT_EQ(stream.stopped_by(), 2U);
}

TEST(TextStream, FindsAStopTextThatBeginsInsideAnother) {
  EXPECT_EQ(shown({"aab"}, {"aaab"}), (Texts{"a", ""}));
  EXPECT_EQ(shown({"abcabd", "cc"}, {"abcab", "cab", "d"}), (Texts{"", "abc", "", ""}));
}

TEST(TextStream, HoldsAnUnfinishedCodePoint) {
  EXPECT_EQ(shown({}, {"\xE2\x82", "\xAC!"}), (Texts{"", "\u20AC!", ""}));
  EXPECT_EQ(shown({}, {"a\xF0\x9F\x98"}), (Texts{"a", "\uFFFD"}));
  EXPECT_EQ(shown({"x\u20AC"}, {"x\xE2", "\x82", "\xAC"}), (Texts{"", "", "", ""}));
}

TEST(TextStream, InvalidBytesBecomeReplacementCharacters) {
  EXPECT_EQ(shown({}, {"a\xFF", "\x80z"}), (Texts{"a\uFFFD", "\uFFFDz", ""}));
  EXPECT_EQ(shown({}, {"\xE2\x82", "z"}), (Texts{"", "\uFFFDz", ""}));
}

TEST(TextStream, AStopTextMayBePassedOver) {
  TextStream stream(Texts{"aa"});
  std::string text;
  stream.push("aa", text, false);
  stream.push("b", text);
  EXPECT_EQ(text, "aab");
  stream.push("aXaa", text);
  EXPECT_EQ(text, "aabaX");
}

// However a text is divided, the same is shown, and never a piece of a code point.
TEST(TextStream, PiecesDoNotMatter) {
  const std::string alphabet[] = {"a", "b", "\u00E9", "\u20AC", "\xE2", "\x82", "\xFF", "\U0001F600"};
  const Texts stops = {"ab\u20ACa", "ba\u00E9", "aab"};
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    std::string bytes;
    for (std::uint64_t i = 0; i < 30; ++i) bytes += alphabet[base::philox(seed, i, 0)[0] % 8];
    std::string whole;
    for (const std::string& part : shown(stops, {bytes})) whole += part;
    Texts pieces;
    for (std::size_t at = 0, i = 0; at < bytes.size(); ++i) {
      pieces.push_back(bytes.substr(at, 1 + base::philox(seed, i, 1)[0] % 4));
      at += pieces.back().size();
    }
    std::string joined;
    for (const std::string& part : shown(stops, pieces)) {
      EXPECT_TRUE(part.empty() || (static_cast<unsigned char>(part.front()) & 0xC0) != 0x80);
      joined += part;
    }
    EXPECT_EQ(joined, whole) << seed;
    for (const std::string& stop : stops) EXPECT_EQ(whole.find(stop), std::string::npos);
  }
}

}  // namespace
}  // namespace alate::generation
