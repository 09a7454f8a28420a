// Input texts: encodings, members of JSON lines, and readers that wait for each answer.
#include <gtest/gtest.h>

#include <string>

#include "program.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

using base::TemporaryFolder;

std::string mean_model() { return tiny_model("st_mean").string(); }

std::string good(std::vector<std::string> arguments, const std::string& input) {
  const ProgramRun run = run_program(arguments, {.input = input});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  return run.out;
}

// The one line of a refused input.
std::string refusal(const std::vector<std::string>& arguments, const std::string& input = {}) {
  const ProgramRun run = run_program(arguments, {.input = input});
  EXPECT_EQ(run.exit_code, 2) << run.error;
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(lines_of(run.error).size(), 1U) << run.error;
  return run.error;
}

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "lacks " << part;
}

// ASCII texts only.
std::string as_utf16(const std::string& text, bool little_endian, bool has_mark) {
  std::string out;
  if (has_mark) out = little_endian ? "\xFF\xFE" : "\xFE\xFF";
  for (const char c : text) {
    if (!little_endian) out += '\0';
    out += c;
    if (little_endian) out += '\0';
  }
  return out;
}

// A model that takes an error of its own to load.
std::string broken_model(const TemporaryFolder& folder) {
  std::filesystem::copy(tiny_model("st_mean"), folder.path() / "model", std::filesystem::copy_options::recursive);
  folder.write("model/model.safetensors", "no tensors");
  return (folder.path() / "model").string();
}

TEST(CliInput, BytesThatAreNotUtf8AreNamedByLine) {
  const TemporaryFolder folder;
  const std::string bad = "a cat\ncaf\xE9 noir\nfox\n";
  const std::string file = folder.write("texts.txt", bad).string();
  expect_has(refusal({"embed", mean_model(), "--file", file}),
             "line 2 of " + file + " has bytes that are not UTF-8 (byte 4 of the line)");
  const std::string error = refusal({"embed", mean_model()}, bad);
  expect_has(error, "line 2 of standard input has bytes");
  expect_has(error, "--invalid-utf8 replace");
  expect_has(error, "iconv -f LATIN1 -t UTF-8");
  EXPECT_EQ(error.find("caf"), std::string::npos) << "texts must not appear in errors";
  expect_has(refusal({"embed", mean_model(), "cat", "caf\xE9"}), "text 2 has bytes");
  expect_has(refusal({"embed", mean_model(), "--input", "jsonl"}, "{\"text\":\"a\"}\n\n{\"text\":\"\xC3\x28\"}\n"),
             "line 3 of standard input has bytes that are not UTF-8 (byte 10 of the line)");
  expect_has(refusal({"compare", mean_model(), "--backends", "cpu,reference", "--file", file}), "line 2 of");
  expect_has(
      refusal({"quantize", mean_model(), (folder.path() / "out").string(), "--type", "int8", "--calibration", file}),
      "line 2 of");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out"));
  expect_has(refusal({"embed", mean_model(), "--invalid-utf8", "ignore"}), "--invalid-utf8 is one of error, replace");
}

TEST(CliInput, BytesThatAreNotUtf8AreReplacedOnRequest) {
  const std::string wanted = good({"embed", mean_model()}, "cat \xEF\xBF\xBD fox\n");
  const std::vector<std::string> embed = {"embed", mean_model(), "--invalid-utf8", "replace"};
  EXPECT_EQ(good(embed, "cat \xFF fox\n"), wanted);
  const std::vector<std::string> jsonl = {"embed", mean_model(), "--input", "jsonl", "--invalid-utf8", "replace"};
  EXPECT_EQ(good(jsonl, "{\"text\": \"cat \xFF fox\"}\n"), wanted);
  // Escapes of lone surrogates are ASCII: they are replaced whatever is asked for.
  EXPECT_EQ(good({"embed", mean_model(), "--input", "jsonl"}, "{\"text\": \"cat \\ud800 fox\"}\n"), wanted);
  EXPECT_EQ(run_program({"embed", mean_model()},
                        {.input = "cat \xFF fox\n", .environment = {{"ALATE_INVALID_UTF8", "replace"}}})
                .out,
            wanted);
}

TEST(CliInput, TokenizeReplacesUnlessItIsToRefuse) {
  const std::vector<std::string> tokenize = {"tokenize", mean_model(), "--output", "jsonl"};
  const auto ids = [](const std::string& line) {
    return formats::to_json_text(*formats::parse_json(line, "line").find("ids"));
  };
  EXPECT_EQ(ids(good(tokenize, "cat \xFF fox\n")), ids(good(tokenize, "cat \xEF\xBF\xBD fox\n")));
  std::vector<std::string> strict = tokenize;
  strict.insert(strict.end(), {"--invalid-utf8", "error"});
  const ProgramRun run = run_program(strict, {.input = "cat\ncat \xFF fox\n"});
  EXPECT_EQ(run.exit_code, 2);
  expect_has(run.error, "line 2 of standard input has bytes that are not UTF-8 (byte 5 of the line)");
}

TEST(CliInput, Utf16IsRecognizedWithAndWithoutItsMark) {
  const TemporaryFolder folder;
  const std::string text = "the first text\nthe second text\n";
  for (const std::string verb : {"embed", "tokenize"}) {
    SCOPED_TRACE(verb);
    expect_has(refusal({verb, mean_model()}, as_utf16(text, true, true)), "iconv -f UTF-16 -t UTF-8");
    expect_has(refusal({verb, mean_model()}, as_utf16(text, false, true)), "iconv -f UTF-16 -t UTF-8");
    expect_has(refusal({verb, mean_model()}, as_utf16(text, true, false)), "iconv -f UTF-16LE -t UTF-8");
    expect_has(refusal({verb, mean_model()}, as_utf16(text, false, false)), "iconv -f UTF-16BE -t UTF-8");
  }
  const std::string file = folder.write("texts.jsonl", as_utf16("{\"text\": \"a\"}\n", true, true)).string();
  expect_has(refusal({"embed", mean_model(), "--file", file}), file + " is UTF-16");
  // Without a zero byte the mark is all there is to go by: bytes to replace for the one, an encoding for the other.
  expect_has(refusal({"embed", mean_model()}, "\xFF\xFE\x12\x34\n"), "begins like UTF-16");
  EXPECT_EQ(lines_of(good({"tokenize", mean_model(), "--output", "jsonl"}, "\xFF\xFE cat\n")).size(), 1U);
}

TEST(CliInput, ATextMayHoldZeroBytes) {
  EXPECT_EQ(lines_of(good({"embed", mean_model()}, std::string("a\0cat and\0two foxes\0\n", 21))).size(), 1U);
}

TEST(CliInput, TheByteOrderMarkOfUtf8IsSkipped) {
  const std::string lines = "the cat\nfox\n";
  EXPECT_EQ(good({"embed", mean_model()}, "\xEF\xBB\xBF" + lines), good({"embed", mean_model()}, lines));
  const std::vector<std::string> tokenize = {"tokenize", mean_model(), "--output", "jsonl"};
  EXPECT_EQ(good(tokenize, "\xEF\xBB\xBF" + lines), good(tokenize, lines));
  const std::vector<std::string> jsonl = {"embed", mean_model(), "--input", "jsonl"};
  EXPECT_EQ(good(jsonl, "\xEF\xBB\xBF{\"text\":\"fox\"}\n\xEF\xBB\xBF{\"text\":\"fox\"}\n"),
            good({"embed", mean_model()}, "fox\nfox\n"));
}

TEST(CliInput, AFileIsCheckedToItsEndBeforeTheModelIsLoaded) {
  const TemporaryFolder folder;
  const std::string model = broken_model(folder);
  const std::string texts = folder.write("texts.txt", std::string(100'000, '\n') + "\xFF\n").string();
  expect_has(refusal({"embed", model, "--file", texts}), "line 100001 of ");
  const std::string lines = folder.write("texts.jsonl", "{\"text\":\"a\"}\n{\"txt\":\"b\"}\n").string();
  expect_has(refusal({"embed", model, "--file", lines}), "line 2 of " + lines + " has no string \"text\"");
  EXPECT_EQ(run_program({"embed", model, "--file", folder.write("good.txt", "a\n").string()}).exit_code, 7);
}

TEST(CliInput, OtherMembersOfJsonLinesAreKeptAsTheyAreWritten) {
  const std::vector<std::string> embed = {"embed", mean_model(), "--input", "jsonl", "--output", "jsonl"};
  const auto lines = lines_of(good(embed,
                                   "{\"id\": 12345678901234567890123, \"text\": \"the cat\", \"score\":1.50,"
                                   "\"tags\": [\"a\", {\"text\": \"\\u00e9\"}], \"pair\": null}\n"
                                   "{\"text\":\"fox\"}\n"));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(
      lines[0].starts_with("{\"id\": 12345678901234567890123,\"score\":1.50,"
                           "\"tags\": [\"a\", {\"text\": \"\\u00e9\"}],\"index\":0,\"embedding\":["))
      << lines[0];
  EXPECT_TRUE(lines[1].starts_with("{\"index\":1,\"embedding\":[")) << lines[1];
  for (const std::string& line : lines) EXPECT_EQ(formats::parse_json(line, "line").find("text"), nullptr);
  // Formats that have no place for them are as without them.
  EXPECT_EQ(good({"embed", mean_model(), "--input", "jsonl"}, "{\"id\": 7, \"text\": \"fox\"}\n"),
            good({"embed", mean_model()}, "fox\n"));
}

TEST(CliInput, MembersCalledLikeThoseOfTheOutputAreLeftOutWithAWarning) {
  const std::vector<std::string> embed = {"embed", mean_model(), "--input", "jsonl", "--output", "jsonl"};
  const ProgramRun run =
      run_program(embed, {.input = "{\"text\":\"a\",\"id\":1}\n"
                                   "{\"text\":\"cat\",\"index\":\"mine\",\"embedding\":[0],\"id\":2}\n"
                                   "{\"text\":\"fox\",\"index\":\"mine\"}\n"});
  EXPECT_EQ(run.exit_code, 0);
  const auto warnings = lines_of(run.error);
  ASSERT_EQ(warnings.size(), 2U) << run.error;
  expect_has(
      warnings[0],
      "the input's field index is left out, since the output has one of that name (first: line 2 of standard input)");
  expect_has(warnings[1], "field embedding");
  const auto lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[1].starts_with("{\"id\":2,\"index\":1,\"embedding\":[")) << lines[1];
  EXPECT_EQ(formats::parse_json(lines[1], "line").find("embedding")->as_array("embedding").size(), 16U);
}

TEST(CliInput, TokenizeKeepsMembersToo) {
  EXPECT_TRUE(good({"tokenize", mean_model(), "--input", "jsonl", "--output", "jsonl"}, "{\"text\":\"cat\",\"id\":7}\n")
                  .starts_with("{\"id\":7,\"ids\":[2,"));
}

// A program at the other end of both pipes writes a line, waits for its answer, and only then writes the next.
void expect_an_answer_a_line(const std::vector<std::string>& arguments, const std::string& all_at_once) {
  RunningProgram program(arguments);
  const auto wanted = lines_of(all_at_once);
  for (const std::size_t i : {0U, 1U, 2U}) {
    program.write("{\"text\":\"cat number " + std::to_string(i) + "\"}\n" + (i == 1 ? "\n \n" : ""));
    EXPECT_EQ(program.read_line(), wanted.at(i));
  }
  // A line whose end has not come yet holds up nothing.
  program.write("{\"text\":\"cat number 3\"}\n{\"text\":\"cat");
  EXPECT_EQ(program.read_line(), wanted.at(3));
  program.write(" number 4\"}");
  program.close_input();
  EXPECT_EQ(program.read_line(), wanted.at(4));
  EXPECT_EQ(program.wait(), 0);
}

TEST(CliInput, EachLineIsAnsweredBeforeTheNextIsWritten) {
  std::string all;
  for (int i = 0; i < 5; ++i) all += "{\"text\":\"cat number " + std::to_string(i) + "\"}\n";
  for (const std::string verb : {"embed", "tokenize"}) {
    SCOPED_TRACE(verb);
    const std::vector<std::string> arguments = {verb, mean_model(), "--input", "jsonl", "--output", "jsonl"};
    expect_an_answer_a_line(arguments, good(arguments, all));
  }
}

TEST(CliInput, TextsBeforeARefusedLineOfAPipeAreAnswered) {
  for (const std::string bad : {"\xFF\n", "{\"txt\":\"a\"}\n"}) {
    RunningProgram program({"embed", mean_model(), "--input", bad[0] == '{' ? "jsonl" : "text", "--quiet"},
                           {.input = bad[0] == '{' ? "{\"text\":\"cat\"}\n" + bad : "cat\n" + bad});
    EXPECT_EQ(program.read_line() + "\n", run_program({"embed", mean_model(), "cat"}).out);
    EXPECT_EQ(program.wait(), 2);
  }
}

}  // namespace
}  // namespace alate::tests
