// What is true of big jobs, of the verbs other than embed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "formats/tensor_file.h"
#include "killed_jobs.h"
#include "program.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;
using base::TemporaryFolder;

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// JSON lines, of which some are refused.
std::string many_lines(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i)
    lines += i % 7 == 3 ? "no JSON\n"
                        : "{\"text\": \"the cat " + std::to_string(i) +
                              " sat on the mat\", \"id\": " + std::to_string(i) + "}\n";
  return lines;
}

// Runs `job` once undisturbed and once killed and resumed, to files that end in `format`.
void expect_same_after_kill(const TemporaryFolder& folder, const std::vector<std::string>& job,
                            const std::string& format, const std::vector<std::string>& more = {}) {
  SCOPED_TRACE(format);
  const fs::path whole = folder.path() / ("whole." + format), out = folder.path() / ("out." + format);
  const fs::path state = out.string() + ".resume";
  const ProgramRun undisturbed = run_program(with(with(job, more), {"--out", whole.string()}));
  ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.error;
  const std::vector<std::string> resuming = with(with(job, more), {"--out", out.string(), "--resume"});
  kill_in_the_middle(resuming, state);
  EXPECT_FALSE(fs::exists(out));
  const ProgramRun resumed = run_program(with(resuming, {"--log-level", "info"}));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.error;
  EXPECT_NE(resumed.error.find("the job goes on"), std::string::npos) << resumed.error;
  EXPECT_TRUE(base::read_text_file(out) == base::read_text_file(whole));
  EXPECT_EQ(lines_of(resumed.error).back(), lines_of(undisturbed.error).back());
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.path()))
    EXPECT_EQ(entry.path().string().find(out.string() + "."), std::string::npos) << entry.path();
}

TEST(BigJob, TokenizeResumedAfterAKillGivesTheBytesOfAnUndisturbedRun) {
  const TemporaryFolder folder;
  const std::string input = folder.write("texts.jsonl", many_lines(150000)).string();
  const std::vector<std::string> tokenize = {
      "tokenize", tiny_model("st_mean").string(), "--file", input, "--on-error", "skip", "--max-length", "6"};
  expect_same_after_kill(folder, tokenize, "jsonl", {"--stride", "2"});
  expect_same_after_kill(folder, tokenize, "txt");
}

TEST(BigJob, DecodingResumedAfterAKillGivesTheBytesOfAnUndisturbedRun) {
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 0; i < 400000; ++i) lines += i % 7 == 3 ? "no ids\n" : "2 74 " + std::to_string(70 + i % 9) + " 3\n";
  const std::string input = folder.write("ids.txt", lines).string();
  expect_same_after_kill(
      folder, {"tokenize", tiny_model("st_mean").string(), "--decode", "--file", input, "--on-error", "skip"}, "jsonl");
}

TEST(BigJob, RerankResumedAfterAKillGivesTheBytesOfAnUndisturbedRun) {
  const TemporaryFolder folder, models;
  const fs::path model = models.path() / "reranker";
  write_tiny_reranker(model);
  const std::string input = folder.write("texts.jsonl", many_lines(40000)).string();
  const std::vector<std::string> rerank = {"rerank", model.string(), "--query", "where is the cat?", "--file",
                                           input,    "--on-error",   "skip",    "--max-length",      "10"};
  for (const std::string format : {"jsonl", "csv"}) expect_same_after_kill(folder, rerank, format);
  expect_same_after_kill(folder, rerank, "txt", {"--top-n", "7"});
}

TEST(BigJob, RanksTheSameInMemoryAndInAFile) {
  const TemporaryFolder folder;
  const fs::path model = folder.path() / "reranker", out = folder.path() / "out.jsonl";
  write_tiny_reranker(model);
  // Equal texts have equal scores, and keep their order.
  std::string lines;
  for (int i = 0; i < 11000; ++i) lines += "{\"text\": \"cat " + std::to_string(i % 50) + "\"}\n";
  const std::string input = folder.write("texts.jsonl", lines).string();
  const std::vector<std::string> rerank = {"rerank", model.string(), "--query", "the cat", "--file",
                                           input,    "--output",     "jsonl",   "--quiet"};
  const std::string in_memory = run_program(rerank).out;
  EXPECT_EQ(lines_of(in_memory).size(), 11000U);
  EXPECT_EQ(run_program(with(rerank, {"--out", out.string()})).exit_code, 0);
  EXPECT_TRUE(base::read_text_file(out) == in_memory);
  const std::vector<std::string> all = lines_of(in_memory);
  const std::vector<std::string> best = lines_of(run_program(with(rerank, {"--top-n", "300"})).out);
  ASSERT_EQ(best.size(), 300U);
  EXPECT_TRUE(std::equal(best.begin(), best.end(), all.begin()));
}

TEST(BigJob, AnotherJobOfTokenizeBeginsAnewAndSaysSo) {
  const TemporaryFolder folder;
  const std::string input = folder.write("texts.jsonl", many_lines(150000)).string();
  const fs::path out = folder.path() / "out.jsonl";
  const std::vector<std::string> tokenize = {
      "tokenize", tiny_model("st_mean").string(), "--file", input, "--out", out.string(), "--on-error", "skip",
      "--resume"};
  kill_in_the_middle(tokenize, out.string() + ".resume");
  const ProgramRun run = run_program(with(tokenize, {"--no-special"}));
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.error.find("the job begins anew"), std::string::npos) << run.error;
  const std::string text = base::read_text_file(out);
  EXPECT_EQ(text.find("[CLS]"), std::string::npos);
  EXPECT_EQ(std::ranges::count(text, '\n'), 150000);
}

TEST(BigJob, ResumeIsRefusedWithTheReasonWhereAnOutputCannotBeContinued) {
  const TemporaryFolder folder;
  const std::string input = folder.write("texts.txt", "a\n").string();
  const auto error_of = [&](const std::vector<std::string>& verb, const std::string& out) {
    const ProgramRun run =
        run_program(with(verb, {"--file", input, "--resume", "--out", (folder.path() / out).string()}));
    EXPECT_EQ(run.exit_code, 2);
    return run.error;
  };
  const std::string model = tiny_model("st_mean").string();
  EXPECT_NE(error_of({"tokenize", model}, "v.safetensors").find("as long as the longest"), std::string::npos);
  EXPECT_NE(error_of({"tokenize", model}, "v.json").find("choose jsonl or text"), std::string::npos);
  EXPECT_NE(error_of({"rerank", model, "--query", "a"}, "v.json").find("times of one run"), std::string::npos);
  EXPECT_NE(error_of({"embed", model}, "v.json").find("choose jsonl"), std::string::npos);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(BigJob, TokenizesInTheOrderOfTheInputOnAnyNumberOfThreads) {
  const TemporaryFolder folder;
  const std::string input = folder.write("texts.jsonl", many_lines(9000)).string();
  const std::vector<std::string> tokenize = {
      "tokenize", tiny_model("st_mean").string(), "--file", input, "--quiet", "--output", "jsonl", "--on-error",
      "skip"};
  const std::string alone = run_program(with(tokenize, {"--threads", "1"})).out;
  EXPECT_TRUE(run_program(with(tokenize, {"--threads", "4"})).out == alone);
  const std::vector<std::string> lines = lines_of(alone);
  ASSERT_EQ(lines.size(), 9000U);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string own =
        i % 7 == 3 ? "\"line\":" + std::to_string(i + 1) + "}" : "{\"id\": " + std::to_string(i) + ",";
    ASSERT_NE(lines[i].find(own), std::string::npos) << lines[i];
  }
}

TEST(BigJob, MemoryOfTokenizeAndRerankDoesNotGrowWithTheInput) {
  const TemporaryFolder folder;
  const fs::path model = folder.path() / "reranker";
  write_tiny_reranker(model);
  const std::string padding(2000, 'x');  // one word that is cut
  const auto lines = [&](int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += padding + std::to_string(i) + "\n";
    return all;
  };
  const std::string few = folder.write("few.txt", lines(8000)).string();
  const std::string many = folder.write("many.txt", lines(40000)).string();  // 64 MB more
  const auto peak = [&](const std::vector<std::string>& verb, const std::string& file) {
    const ProgramRun run = run_program(with(verb, {"--quiet", "--file", file}));
    EXPECT_EQ(run.exit_code, 0) << run.error;
    return run.peak_bytes;
  };
  const std::string out = (folder.path() / "out.jsonl").string();
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"tokenize", model.string(), "--out", out},
        {"rerank", model.string(), "--query", "cat", "--out", out},
        {"rerank", model.string(), "--query", "cat", "--output", "text", "--top-n", "9"}}) {
    SCOPED_TRACE(verb.back());
    EXPECT_LT(peak(verb, many), peak(verb, few) + (std::size_t{16} << 20));
  }
}

TEST(BigJob, DecodingSkipsLinesThatHaveNoIds) {
  const ProgramRun run = run_program({"tokenize", tiny_model("st_mean").string(), "--decode", "--skip-special",
                                      "--output", "jsonl", "--on-error", "skip"},
                                     {.input = "2 74 75 3\nthe cat\n75\n"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  const std::vector<std::string> lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "{\"text\":\"the cat\"}");
  EXPECT_TRUE(lines[1].ends_with("\"line\":2}")) << lines[1];
  EXPECT_EQ(lines[2], "{\"text\":\"cat\"}");
}

}  // namespace
}  // namespace alate::tests
