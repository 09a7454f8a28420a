// alate index and alate search: what is found, formats, killed jobs, refusals.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "killed_jobs.h"
#include "program.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/load/client.h"
#include "tests/load/server_process.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

using formats::Json;

class CliSearch : public testing::Test {
 protected:
  CliSearch() {
    folder_.write("texts/animals.txt", "The cat sleeps on the sofa.\n\nDogs bark at strangers in the night.\n");
    folder_.write("texts/more/money.md", "# Markets\n\nShares fell sharply on Monday.\n");
    folder_.write("texts/notes.jsonl", "{\"text\": \"Bread is baked before sunrise.\"}\n");
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::vector<std::string> index_arguments(const std::string& out) const {
    return {"index", path("texts"), "--out", path(out), "--target-tokens", "12", "--overlap-tokens", "0", "--quiet"};
  }
  std::string bytes_of(const std::string& out) const {
    std::ifstream file(folder_.path() / out / "index.safetensors", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  base::TemporaryFolder folder_;
};

TEST_F(CliSearch, FindsWhatIsMeantWhateverTheWords) {
  const ProgramRun made = run_program(index_arguments("index"));
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_NE(made.out.find("of 3 files"), std::string::npos) << made.out;
  const ProgramRun run =
      run_program({"search", path("index"), "Where does the kitten nap?", "--top", "2", "--output", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const Json body = formats::parse_json(run.out, "output");
  const Json::Array& results = body.find("results")->as_array("results");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].get_string("text", ""), "The cat sleeps on the sofa.");
  EXPECT_EQ(results[0].get_string("file", ""), path("texts/animals.txt"));
  EXPECT_EQ(formats::to_json_text(*results[0].find("spans")), "[[0,3],[18,21]]");
  EXPECT_GT(results[0].get_double("score", 0), results[1].get_double("score", 1));
  const ProgramRun shown = run_program({"search", path("index"), "stock prices on monday", "--top", "1"});
  EXPECT_NE(shown.out.find("money.md:1\n    # Markets Shares fell sharply on *Monday*.\n"), std::string::npos)
      << shown.out;
}

TEST_F(CliSearch, OneBadFileEndsTheJobUnlessItIsSkipped) {
  folder_.write("few/good.txt", "The cat sleeps on the sofa.\n");
  folder_.write("few/old.html", "<meta charset=windows-1252><p>\x93The cat\x94 sleeps \x96 it\x92s a caf\xe9</p>");
  folder_.write("few/notepad.txt", std::string("\xff\xfeT\0h\0e\0 \0d\0o\0g\0\r\0\n\0", 20));
  folder_.write("few/bad.md", "caf\xe9");
  std::vector<std::string> arguments = {"index", path("few"), "--out", path("few.index"), "--quiet"};
  const ProgramRun stopped = run_program(arguments);
  EXPECT_EQ(stopped.exit_code, 2);
  EXPECT_NE(stopped.error.find("few/bad.md is not UTF-8"), std::string::npos) << stopped.error;
  EXPECT_NE(stopped.error.find("--on-error skip"), std::string::npos) << stopped.error;
  arguments.insert(arguments.end(), {"--on-error", "skip"});
  const ProgramRun made = run_program(arguments);
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_EQ(made.out, "3 passages of 3 files in " + path("few.index") + "; 3 files embedded; 1 file skipped\n");
  const ProgramRun found = run_program({"search", path("few.index"), "caf\u00e9", "--top", "1", "--output", "json"});
  EXPECT_NE(found.out.find("\u201cThe cat\u201d sleeps \u2013 it\u2019s a caf\u00e9"), std::string::npos) << found.out;
}

TEST_F(CliSearch, ShowsNothingThatActsOnATerminal) {
  folder_.write("odd/odd.txt", "The \x1b[31m cat\u009b \u202esleeps.\n");
  const ProgramRun made = run_program({"index", path("odd"), "--out", path("odd.index"), "--quiet"});
  EXPECT_EQ(made.out, "1 passage of 1 file in " + path("odd.index") + "; 1 file embedded\n");
  const ProgramRun shown = run_program({"search", path("odd.index"), "cat"});
  EXPECT_NE(shown.out.find("The \\x1b[31m *cat*\\x9b \\u202esleeps."), std::string::npos) << shown.out;
}

TEST_F(CliSearch, ARerankerOrdersTheBestPassages) {
  ASSERT_EQ(run_program(index_arguments("index")).exit_code, 0);
  write_tiny_reranker(folder_.path() / "reranker");
  const auto results = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"search", path("index"), "the cat", "--output", "jsonl"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.error;
    return lines_of(run.out);
  };
  const std::vector<std::string> ranked = results({"--rerank", path("reranker")});
  EXPECT_EQ(ranked.size(), results({}).size());
  double last = 2;
  for (const std::string& line : ranked) {
    const Json result = formats::parse_json(line, "line");
    const ProgramRun alone = run_program({"rerank", path("reranker"), "--query", "the cat", "--output", "jsonl",
                                          "--quiet", result.get_string("text", "")});
    const double score = result.get_double("score", 0);
    EXPECT_NEAR(score, formats::parse_json(alone.out, "line").get_double("relevance_score", -1), 1e-5);
    EXPECT_LE(score, last);
    last = score;
  }
}

TEST_F(CliSearch, AKilledJobGoesOnToTheSameBytes) {
  // Files of some thousand passages, so that parts are written before the end.
  for (int file = 0; file < 4; ++file) {
    std::string text;
    for (int i = 0; i < 6000; ++i)
      text += "Line " + std::to_string(i) + " of file " + std::to_string(file) + " is about nothing at all.\n\n";
    folder_.write("texts/long" + std::to_string(file) + ".txt", text);
  }
  const auto job = [&](const std::string& out) {
    std::vector<std::string> arguments = index_arguments(out);
    arguments.insert(arguments.end(), {"--model", tiny_model("st_mean").string()});
    return arguments;
  };
  ASSERT_EQ(run_program(job("whole")).exit_code, 0);
  kill_in_the_middle(job("killed"), folder_.path() / "killed/parts/00000000.safetensors");
  EXPECT_TRUE(bytes_of("killed").empty());
  const ProgramRun resumed = run_program(job("killed"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_EQ(resumed.out.find("; 7 files embedded"), std::string::npos) << resumed.out;
  EXPECT_TRUE(bytes_of("killed") == bytes_of("whole"));
  const ProgramRun again = run_program(job("killed"));
  EXPECT_NE(again.out.find("; 0 files embedded"), std::string::npos) << again.out;
  EXPECT_TRUE(bytes_of("killed") == bytes_of("whole"));
}

TEST_F(CliSearch, FewerBitsTakeLessRoomAndFindTheSame) {
  const auto best = [&](const std::string& precision) {
    std::vector<std::string> arguments = index_arguments(precision);
    arguments.insert(arguments.end(), {"--precision", precision});
    EXPECT_EQ(run_program(arguments).exit_code, 0);
    const ProgramRun run = run_program({"search", path(precision), "Where does the kitten nap?", "--output", "jsonl"});
    EXPECT_EQ(run.exit_code, 0) << run.error;
    return formats::parse_json(lines_of(run.out).front(), "line");
  };
  const Json exact = best("float32"), of_bytes = best("int8"), of_bits = best("binary");
  for (const Json* other : {&of_bytes, &of_bits}) {
    EXPECT_EQ(other->get_string("text", ""), exact.get_string("text", "-"));
    EXPECT_NEAR(other->get_double("score", 0), exact.get_double("score", 1), 0.003);
  }
  EXPECT_LT(bytes_of("int8").size() + 3000, bytes_of("float32").size());
  EXPECT_EQ(run_program({"index", path("texts"), "--out", path("x"), "--precision", "uint8"}).exit_code, 2);
}

TEST_F(CliSearch, AServerAnswersAsTheProgramDoes) {
  ASSERT_EQ(run_program(index_arguments("index")).exit_code, 0);
  const load::ServerProcess server(program_path(), {"--quiet", "--indexes", "notes=" + path("index")});
  const auto post = [&](std::string_view where, const std::string& body) {
    return load::Client(server.port()).exchange(load::Client::request("POST", where, body));
  };
  const ProgramRun run =
      run_program({"search", path("index"), "Where does the kitten nap?", "--top", "2", "--output", "json"});
  const load::Answer answer =
      post("/api/search", R"({"index":"notes","query":"Where does the kitten nap?","top_k":2})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json wanted = formats::parse_json(run.out, "output"), found = formats::parse_json(answer.body, "answer");
  const Json::Array& results = found.find("results")->as_array("results");
  ASSERT_EQ(results.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const Json& same = wanted.find("results")->as_array("results")[i];
    for (const char* name : {"id", "text", "score", "spans", "start", "end", "line"})
      EXPECT_EQ(formats::to_json_text(*results[i].find(name)), formats::to_json_text(*same.find(name))) << name;
  }
  EXPECT_EQ(results[0].get_string("file", ""), "animals.txt");
  EXPECT_EQ(answer.body.find(folder_.path().string()), std::string::npos) << answer.body;
  EXPECT_EQ(post("/ai/v1/search", R"({"index":"../index","query":"a"})").status, 404);
  EXPECT_EQ(post("/api/search", R"({"index":"notes","query":"a","top_k":99999999})").status, 400);
  EXPECT_EQ(post("/api/search", R"({"index":"notes"})").status, 400);
}

TEST_F(CliSearch, WhatCannotBeIsRefused) {
  EXPECT_EQ(run_program({"index", path("texts")}).exit_code, 2);
  EXPECT_EQ(run_program({"index", "--out", path("index")}).exit_code, 2);
  EXPECT_EQ(run_program({"index", path("none"), "--out", path("index")}).exit_code, 4);
  EXPECT_EQ(run_program({"search", path("none"), "a question"}).exit_code, 4);
  folder_.write("broken/index.safetensors", "no index");
  EXPECT_EQ(run_program({"search", path("broken"), "a question"}).exit_code, 7);
}

}  // namespace
}  // namespace alate::tests
