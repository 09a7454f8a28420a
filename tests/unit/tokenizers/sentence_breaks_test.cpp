// Unicode's own test of the sentence boundary rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/source_folder.h"
#include "tokenizers/unicode/sentence_breaks.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tokenizers {
namespace {

TEST(SentenceBreaks, AreThoseOfUnicodesTest) {
  std::ifstream file(source_folder() / "tests/golden/sentence_breaks.txt");
  std::size_t cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string text;
    std::vector<std::size_t> expected;
    for (std::string word; words >> word;) {
      if (word == "+") {
        expected.push_back(text.size());
      } else if (word != "-") {
        append_utf8(text, static_cast<char32_t>(std::stoul(word, nullptr, 16)));
      }
    }
    expected.pop_back();  // the end of the text
    EXPECT_EQ(sentence_starts(text), expected) << line;
    ++cases;
  }
  EXPECT_EQ(cases, 502U);
}

TEST(SentenceBreaks, OfNoTextAreNone) { EXPECT_TRUE(sentence_starts("").empty()); }

TEST(SentenceBreaks, TakeLinearTime) {
  // Each full stop looks ahead over what could go on in lower case, but not beyond the next one.
  std::string text;
  for (std::size_t i = 0; i < 200000; ++i) text += ". 1 ";
  EXPECT_EQ(sentence_starts(text).size(), 200001U);
  EXPECT_EQ(sentence_starts("." + std::string(1000000, ' ') + "1" + std::string(1000000, '\'')).size(), 2U);
}

}  // namespace
}  // namespace alate::tokenizers
