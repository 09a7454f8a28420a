// alate chunk: files, formats, models, and what it refuses.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/json.h"
#include "program.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::tests {
namespace {

using formats::Json;

class CliChunk : public testing::Test {
 protected:
  ProgramRun chunk(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), "chunk");
    arguments.emplace_back("--quiet");
    return run_program(arguments, {.input = input});
  }
  std::string file(const std::string& name, const std::string& text) const {
    folder_.write(name, text);
    return (folder_.path() / name).string();
  }

  base::TemporaryFolder folder_;
};

TEST_F(CliChunk, AFileIsOneTextAndChunksAreSlicesOfIt) {
  const std::string text = "\tOne \u00e9 two.\r\nThree.\n\nFour five.\n\n";
  const std::string path = file("page.txt", text);
  const ProgramRun run = chunk({"sentence", "--file", path, "--target-tokens", "4", "--output", "jsonl"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const std::vector<std::string> lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), 3U);
  for (const std::string& line : lines) {
    const Json json = formats::parse_json(line, "line");
    const auto start = static_cast<std::size_t>(json.get_int("byte_start", 0));
    EXPECT_EQ(json.get_string("text", ""),
              text.substr(start, static_cast<std::size_t>(json.get_int("byte_end", 0)) - start));
  }
  EXPECT_EQ(formats::parse_json(lines[1], "line").get_int("start_char", 0), 13);
  EXPECT_EQ(chunk({"sentence", "--target-tokens", "4", "--output", "jsonl"}, text).out, run.out);
}

TEST_F(CliChunk, LinesOfJsonAreTextsOfTheirOwnWithTheirMembers) {
  const std::string path =
      file("texts.jsonl", "{\"id\": \"x\", \"text\": \"a b\"}\n{\"text\": \"c\", \"title\": \"t\"}\n");
  const ProgramRun run = chunk({"fixed", "--file", path, "--target-tokens", "1", "--output", "jsonl"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const std::vector<std::string> lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(formats::parse_json(lines[1], "line").get_string("text", ""), "b");
  EXPECT_EQ(formats::parse_json(lines[2], "line").get_string("title", ""), "t");
  EXPECT_EQ(formats::parse_json(lines[2], "line").get_int("index", 0), 1);
  const ProgramRun each = chunk({"fixed", "--lines", "--output", "text"}, "a b\nc\n");
  EXPECT_EQ(each.out, "0\t3\ta b\n0\t1\tc\n");
}

TEST_F(CliChunk, LettersKeepTheirMarksWhateverTheTokenizerDrops) {
  const std::string text = "Le the\u0301. Le cafe\u0301 et le the\u0301 sont ici\n\nUn the\u0301\n\nUn cafe\u0301\n";
  const std::string path = file("nfd.txt", text);
  for (const std::string method : {"fixed", "sentence"}) {
    const ProgramRun run = chunk({"builtin:minilm", "--method", method, "--separator", " ", "--target-tokens", "3",
                                  "--overlap-tokens", "0", "--file", path, "--output", "jsonl"});
    ASSERT_EQ(run.exit_code, 0) << run.error;
    std::string shown, expected = text;
    for (const std::string& line : lines_of(run.out)) shown += formats::parse_json(line, "line").get_string("text", "");
    const auto without_spaces = [](std::string& from) {
      std::erase_if(from, [](char c) { return c == ' ' || c == '\n'; });
    };
    without_spaces(shown);
    without_spaces(expected);
    EXPECT_EQ(shown, expected) << method;
  }
}

TEST_F(CliChunk, TextForPeopleHasNothingThatActsOnATerminal) {
  const std::string path = file("odd.txt", "a\x1b[2Jb \xc2\x9b \u202ec\td\x7f");
  EXPECT_EQ(chunk({"fixed", "--file", path, "--output", "text"}).out, "0\t14\ta\\x1b[2Jb \\x9b \\u202ec d\\x7f\n");
  EXPECT_NE(chunk({"fixed", "--file", path, "--output", "jsonl"}).out.find("\u202e"), std::string::npos);
}

TEST_F(CliChunk, LateChunksOfTheModelThatComesWithTheProgram) {
  const ProgramRun run = chunk({"builtin:minilm", "The cat sleeps. Shares fell.", "--method", "sentence",
                                "--target-tokens", "5", "--late", "--output", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const Json body = formats::parse_json(run.out, "output");
  EXPECT_EQ(body.get_string("model", ""), "builtin:minilm");
  const Json::Array& chunks = body.find("chunks")->as_array("chunks");
  ASSERT_EQ(chunks.size(), 2U);
  EXPECT_EQ(chunks[1].find("embedding")->as_array("embedding").size(), 384U);
}

TEST_F(CliChunk, SemanticChunksEndWhereTheSubjectChanges) {
  const ProgramRun run = chunk({"builtin:minilm", "--method", "semantic", "--threshold", "0.3", "--output", "text",
                                "The cat sleeps on the sofa. The kitten naps on the couch. Shares fell on Monday. "
                                "The stock market lost much of its value."});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const std::vector<std::string> lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), 2U) << run.out;
  EXPECT_NE(lines[1].find("\tShares fell"), std::string::npos);
}

TEST_F(CliChunk, WhatItCannotDoIsRefused) {
  EXPECT_EQ(chunk({"fixed", "a", "--late", "--output", "json"}).exit_code, 2);
  EXPECT_EQ(chunk({"semantic", "a"}).exit_code, 2);
  EXPECT_EQ(chunk({"builtin:minilm", "a", "--late"}).exit_code, 2);
  EXPECT_EQ(chunk({"fixed", "a", "b", "--output", "json"}).exit_code, 2);
  EXPECT_EQ(chunk({"fixed", "a", "--target-tokens", "0"}).exit_code, 2);
  EXPECT_EQ(chunk({"fixed", "a", "--threshold", "much"}).exit_code, 2);
  const ProgramRun lone = chunk({"a text by itself"});
  EXPECT_EQ(lone.exit_code, 4);
  EXPECT_NE(lone.error.find("alate chunk fixed"), std::string::npos) << lone.error;
}

TEST_F(CliChunk, AFileInPlaceOfTheModelIsRefusedWithWhatToDo) {
  for (const std::string name : {"page.md", "page.txt", "page.html", "page"}) {
    const std::string path = file(name, "A text, no model.\n");
    for (const std::string verb : {"chunk", "embed", "redact", "classify", "tokenize", "show"}) {
      const ProgramRun run = run_program({verb, path});
      EXPECT_EQ(run.exit_code, 2) << verb << run.error;
      EXPECT_EQ(lines_of(run.error).size(), 1U) << run.error;
      EXPECT_NE(run.error.find("--file " + path), std::string::npos) << verb << run.error;
    }
  }
}

TEST_F(CliChunk, ATextThatIsTheNameOfAFileGetsAWarning) {
  const std::string path = file("page.md", "A text.\n");
  const ProgramRun run = run_program({"chunk", "fixed", "a", path});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.error, "warn: text 2 is the name of a file, which is not read; --file reads it\n");
  EXPECT_EQ(run_program({"chunk", "fixed", "a", "and/or"}).error, "");
}

}  // namespace
}  // namespace alate::tests
