// Unicode's own test of the rules for grapheme clusters, and comparisons of texts in canonical form.
#include "tokenizers/unicode/grapheme_clusters.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/source_folder.h"
#include "tokenizers/unicode/canonical_text.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

using Places = std::vector<std::size_t>;

Places borders_of(const std::string& text) {
  Places borders = {0};
  for (std::size_t at = 0; at < text.size();) borders.push_back(at = cluster_end(text, at));
  return borders;
}

TEST(GraphemeClusters, AreThoseOfUnicodesTest) {
  std::ifstream file(source_folder() / "tests/golden/grapheme_breaks.txt");
  std::size_t cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string text;
    Places expected;
    for (std::string word; words >> word;) {
      if (word == "+") {
        expected.push_back(text.size());
      } else if (word != "-") {
        append_utf8(text, static_cast<char32_t>(std::stoul(word, nullptr, 16)));
      }
    }
    EXPECT_EQ(borders_of(text), expected) << line;
    ++cases;
  }
  EXPECT_EQ(cases, 602U);
}

TEST(GraphemeClusters, BordersAroundAByte) {
  const std::string text = "ae\u0301\r\nb\u00e9";  // a, e with its mark, the end of a line, b, a composed letter
  const GraphemeClusters clusters(text);
  const Places before = {0, 1, 1, 1, 4, 4, 6, 7, 7, 9, 9}, after = {0, 1, 4, 4, 4, 6, 6, 7, 9, 9, 9};
  for (std::size_t at = 0; at < before.size(); ++at) {
    EXPECT_EQ(clusters.border_before(at), before[at]) << at;
    EXPECT_EQ(clusters.border_after(at), after[at]) << at;
  }
}

TEST(GraphemeClusters, OfNothingButMarksAreBounded) {
  std::string text = "e";
  for (int i = 0; i < 1000; ++i) text += "\u0301";
  const Places borders = borders_of(text);
  EXPECT_EQ(borders.size(), 9U);  // 1001 code points, 128 at a time
  EXPECT_EQ(borders[1], 1U + 2 * 127);
}

TEST(CanonicalText, IsTheSameForComposedAndOtherLetters) {
  EXPECT_EQ(canonical_form("caf\u00e9"), canonical_form("cafe\u0301"));
  EXPECT_EQ(canonical_form("\uac01"), canonical_form("\u1100\u1161\u11a8"));  // a Hangul syllable and its parts
  EXPECT_EQ(canonical_form("a\u0323\u0302"), canonical_form("a\u0302\u0323"));
  EXPECT_EQ(canonical_form("\u212b"), canonical_form("A\u030a"));
  EXPECT_NE(canonical_form("\ufb01"), canonical_form("fi"));  // only compatible
  EXPECT_EQ(canonical_form("a\xff"), "a\ufffd");
}

TEST(CanonicalText, IsFoundInComposedAndOtherLetters) {
  EXPECT_EQ(canonical_match_ends("a--b--c", "--"), (Places{3, 6}));
  EXPECT_EQ(canonical_match_ends("aaaa", "aa"), (Places{2, 4}));
  EXPECT_EQ(canonical_match_ends("x\u00e9y e\u0301z", "e\u0301"), (Places{3, 8}));
  EXPECT_EQ(canonical_match_ends("x\u00e9y e\u0301z", "\u00e9"), (Places{3, 8}));
  // Not a part of a character.
  EXPECT_EQ(canonical_match_ends("caf\u00e9 cafe\u0301 cafe", "e"), (Places{17}));
  EXPECT_EQ(canonical_match_ends("\uac01 \uac00", "\u1100\u1161"), (Places{7}));
  EXPECT_EQ(canonical_match_ends("\u00e9\r\nb", "\n"), (Places{4}));
  EXPECT_EQ(canonical_match_ends("\u00e9\r\nb", "\r"), (Places{3}));
  EXPECT_TRUE(canonical_match_ends("", "x").empty());
}

}  // namespace
}  // namespace alate::tokenizers
