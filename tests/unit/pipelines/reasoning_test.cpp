// The reasoning of an answer, apart from the answer.
#include "pipelines/generate/reasoning.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace alate::pipelines {
namespace {

// "reasoning|text" of an answer that comes in pieces of so many bytes; what was shown is the same.
std::string split(std::string_view answer, std::size_t piece, std::string_view prompt = "") {
  std::string text, reasoning;
  ReasoningSplit split(
      prompt, [&](std::string_view part) { text += part; }, [&](std::string_view part) { reasoning += part; });
  for (std::size_t at = 0; at < answer.size(); at += piece) split.add(answer.substr(at, piece));
  split.finish();
  EXPECT_EQ(split.text(), text);
  EXPECT_EQ(split.reasoning(), reasoning);
  return reasoning + "|" + text;
}

TEST(Reasoning, IsWhatStandsBetweenTheTagsHoweverTheAnswerIsCut) {
  for (std::size_t piece = 1; piece < 20; ++piece) {
    SCOPED_TRACE(piece);
    EXPECT_EQ(split("<think>\nIs it 4?\n\nYes.\n</think>\n\nIt is 4.", piece), "Is it 4?\n\nYes.|It is 4.");
    EXPECT_EQ(split("\n<think>\n\n</think>\n\nIt is 4.", piece), "|It is 4.");
    EXPECT_EQ(split("a </thin b</think>c", piece, "assistant\n<think>\n"), "a </thin b|c");
    EXPECT_EQ(split("never ended </thi", piece, "<think>"), "never ended </thi|");
  }
}

TEST(Reasoning, AnswersWithoutItAreUnchanged) {
  for (std::size_t piece = 1; piece < 12; ++piece) {
    EXPECT_EQ(split("  The tag <think> is one.", piece), "|  The tag <think> is one.");
    EXPECT_EQ(split("<thin", piece), "|<thin");
    EXPECT_EQ(split("\n", piece), "|\n");
    EXPECT_EQ(split("", piece), "|");
  }
}

TEST(Reasoning, PiecesAreShownAsSoonAsTheyAreCertain) {
  std::string text, reasoning;
  ReasoningSplit split(
      "", [&](std::string_view part) { text += part; }, [&](std::string_view part) { reasoning += part; });
  split.add("<think>one");
  EXPECT_EQ(reasoning, "one");
  split.add(" two</th");
  EXPECT_EQ(reasoning, "one two");
  split.add("ink> three");
  EXPECT_EQ(text, "three");
}

}  // namespace
}  // namespace alate::pipelines
