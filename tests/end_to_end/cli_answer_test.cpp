// alate answer: every output format, with a tiny model.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "program.h"
#include "tests/golden/tiny_answerers.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::tests {
namespace {

using formats::Json;

class CliAnswer : public testing::Test {
 protected:
  ProgramRun run(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), {"answer", (folder_.path() / "model").string(), "--quiet"});
    return run_program(arguments, {.input = input});
  }
  std::string good(std::vector<std::string> arguments, const std::string& input = "") const {
    const ProgramRun done = run(std::move(arguments), input);
    EXPECT_EQ(done.exit_code, 0) << done.error;
    return done.out;
  }
  const std::vector<Answer>& wanted(std::size_t text) const { return recorded_.runs.front().answers[text]; }

  base::TemporaryFolder folder_;
  const RecordedAnswerer recorded_ = write_tiny_answerer(folder_.path() / "model");
};

TEST_F(CliAnswer, TextHasALineForEachAnswer) {
  const std::vector<std::string> lines =
      lines_of(good({"--question", recorded_.question, recorded_.texts[0], "", recorded_.texts[2], "--top-k", "2"}));
  ASSERT_EQ(lines.size(), 6U);
  const Answer& first = wanted(0).front();
  EXPECT_TRUE(
      lines[0].ends_with("\t" + std::to_string(first.start) + "\t" + std::to_string(first.end) + "\t" + first.text))
      << lines[0];
  EXPECT_EQ(lines[2] + lines[3], "");
  EXPECT_EQ(std::ranges::count(lines[4], '\t'), 3);
}

TEST_F(CliAnswer, JsonIsTheBodyOfTheRoute) {
  const Json body =
      formats::parse_json(good({"--question", recorded_.question, recorded_.texts[0], "--output", "json"}), "output");
  const Json::Array& answers = body.find("answers")->as_array("answers").at(0).as_array("answers");
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].get_string("text", ""), wanted(0).front().text);
  EXPECT_EQ(answers[0].get_int("byte_end", -1), answers[0].get_int("end", 0));
}

TEST_F(CliAnswer, JsonLinesAndCsvHaveTheTextsNumbers) {
  const std::string lines = good({"--question", recorded_.question, "--input", "jsonl", "--output", "jsonl"},
                                 R"({"id": 7, "text": "Ada met Charles in London."})"
                                 "\n"
                                 R"({"text": ""})"
                                 "\n");
  const Json first = formats::parse_json(lines_of(lines).at(0), "line");
  EXPECT_EQ(first.get_int("id", 0), 7);
  EXPECT_EQ(first.find("answers")->as_array("answers").at(0).get_string("text", ""), wanted(0).front().text);
  const std::vector<std::string> csv =
      lines_of(good({"--question", recorded_.question, "", recorded_.texts[0], "--output", "csv"}));
  EXPECT_EQ(csv.at(0), "index,score,start,end,answer");
  EXPECT_TRUE(csv.at(1).starts_with("1,")) << csv[1];
}

TEST_F(CliAnswer, AnEmptyAnswerCompetesWhereItMay) {
  const std::vector<std::string> lines =
      lines_of(good({"--question", recorded_.question, "", "--no-answer", "--top-k", "5"}));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].ends_with("\t0\t0\t")) << lines[0];
}

TEST_F(CliAnswer, WhatIsMissingIsSaid) {
  const ProgramRun unasked = run({"a"});
  EXPECT_EQ(unasked.exit_code, 2);
  EXPECT_NE(unasked.error.find("--question is missing"), std::string::npos) << unasked.error;
  EXPECT_EQ(run({"a", "--question", ""}).exit_code, 2);
  EXPECT_EQ(run({"a", "--question", "b", "--top-k", "0"}).exit_code, 2);
  const ProgramRun late = run({"--question", "Who?", "--long", "error", "a", recorded_.texts.back()});
  EXPECT_EQ(late.exit_code, 2);
  EXPECT_NE(late.error.find("text 2 has more than the 40 tokens"), std::string::npos) << late.error;
}

}  // namespace
}  // namespace alate::tests
