// Long inputs: their memory does not grow with them, and their parts come one after the other whatever happens.
// ALATE_TEST_MODEL_DIR names the folder of all-MiniLM-L6-v2.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "killed_jobs.h"
#include "program.h"
#include "terminal.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;
using base::TemporaryFolder;

std::string large_model() {
  const char* name = std::getenv("ALATE_TEST_MODEL_DIR");
  if (name == nullptr) throw std::runtime_error("ALATE_TEST_MODEL_DIR is not set: run ./test, which fetches the model");
  return name;
}

std::string numbered_lines(std::size_t count) {
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) lines += std::to_string(i % 100) + "\n";
  return lines;
}

// The large model without most of its layers: vectors of the same width in a sixth of the time.
std::string wide_model_of_one_layer(const TemporaryFolder& folder) {
  const fs::path model = folder.path() / "model";
  fs::copy(large_model(), model, fs::copy_options::recursive);
  std::string config = base::read_text_file(model / "config.json");
  const std::string layers = "\"num_hidden_layers\": 6";
  config.replace(config.find(layers), layers.size(), "\"num_hidden_layers\": 1");
  folder.write("model/config.json", config);
  return model.string();
}

TEST(BigJob, MemoryDoesNotGrowWithTheInput) {
  const TemporaryFolder folder;
  const std::string model = wide_model_of_one_layer(folder);
  constexpr std::size_t kTexts = 6000;
  const std::string few = folder.write("few.txt", numbered_lines(kTexts)).string();
  const std::string many = folder.write("many.txt", numbered_lines(4 * kTexts)).string();
  for (const std::string format : {"npy", "json"}) {
    SCOPED_TRACE(format);
    const std::string out = (folder.path() / ("v." + format)).string();
    const auto peak = [&](const std::string& file) {
      const ProgramRun run = run_program({"embed", model, "--quiet", "--file", file, "--out", out});
      EXPECT_EQ(run.exit_code, 0) << run.error;
      return run.peak_bytes;
    };
    const std::size_t of_few = peak(few);
    const std::size_t bytes_of_few = fs::file_size(out);
    const std::size_t of_many = peak(many);
    EXPECT_GT(fs::file_size(out), 3 * bytes_of_few);
    EXPECT_LT(of_many, of_few + fs::file_size(out) / 6);
    EXPECT_LT(of_many, std::size_t{300} << 20);
  }
}

TEST(BigJob, TensorFilesAreTheSameFromAnyInputToAnyOutput) {
  const TemporaryFolder folder;
  const std::string lines = numbered_lines(9000);
  const std::string input = folder.write("texts.txt", lines).string();
  const std::string model = tiny_model("st_mean").string();
  for (const std::string format : {"npy", "safetensors"}) {
    SCOPED_TRACE(format);
    const auto out = folder.path() / ("v." + format);
    EXPECT_EQ(run_program({"embed", model, "--file", input, "--out", out.string()}).exit_code, 0);
    const std::string whole = base::read_text_file(out);
    EXPECT_EQ(formats::read_tensors(out).at(0).tensor.shape(), (Shape{DType::f32, {9000, 16}}));
    EXPECT_EQ(run_program({"embed", model, "--file", input, "--output", format}).out, whole);
    // The number of lines of a pipe is not known before its end.
    for (const bool to_file : {true, false}) {
      const auto other = folder.path() / ("w." + format);
      std::vector<std::string> arguments = {"embed", model, "--output", format};
      if (to_file) arguments.insert(arguments.end(), {"--out", other.string()});
      RunningProgram program(arguments);
      program.write(lines.substr(0, 100));
      program.write(lines.substr(100));
      program.close_input();
      std::string found;
      if (!to_file) {
        for (std::string line = program.read_line(); found.size() < whole.size(); line = program.read_line())
          found += line + "\n";
        found.resize(whole.size());
      }
      EXPECT_EQ(program.wait(), 0);
      EXPECT_EQ(to_file ? base::read_text_file(other) : found, whole);
    }
  }
}

TEST(BigJob, AnErrorEndsItWhileItsInputIsStillOpen) {
  // The options are wrong for the model, which only its first part shows: the thread that waits for input ends.
  RunningProgram waiting({"embed", tiny_model("st_mean").string(), "--dimensions", "1000"}, {.input = "a text\n"});
  EXPECT_EQ(waiting.wait(std::chrono::minutes(1)), 2);
}

TEST(BigJob, ResumedAfterAKillItGivesTheBytesOfAnUndisturbedRun) {
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 0; i < 60000; ++i)
    lines += i % 7 == 3 ? "no JSON\n" : "{\"text\": \"the cat " + std::to_string(i) + "\", \"id\": 1}\n";
  const std::string input = folder.write("texts.jsonl", lines).string();
  for (const std::string format : {"jsonl", "txt", "npy", "safetensors"}) {
    SCOPED_TRACE(format);
    const fs::path whole = folder.path() / ("whole." + format), out = folder.path() / ("v." + format);
    const fs::path state = out.string() + ".resume";
    const auto embed = [&](const fs::path& to, const std::vector<std::string>& more) {
      std::vector<std::string> arguments = {"embed",        tiny_model("st_mean").string(),
                                            "--file",       input,
                                            "--on-error",   "skip",
                                            "--out",        to.string(),
                                            "--max-length", "4"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      return arguments;
    };
    const ProgramRun undisturbed = run_program(embed(whole, {}));
    ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.error;
    kill_in_the_middle(embed(out, {"--resume"}), state);
    EXPECT_FALSE(fs::exists(out));
    const ProgramRun resumed = run_program(embed(out, {"--resume", "--log-level", "info"}));
    EXPECT_EQ(resumed.exit_code, 0) << resumed.error;
    EXPECT_NE(resumed.error.find("the job goes on"), std::string::npos) << resumed.error;
    EXPECT_TRUE(base::read_text_file(out) == base::read_text_file(whole));
    // The counts are those of the whole job.
    EXPECT_EQ(lines_of(resumed.error).back(), lines_of(undisturbed.error).back());
    EXPECT_FALSE(fs::exists(state));
    EXPECT_FALSE(fs::exists(out.string() + ".partial"));
  }
}

TEST(BigJob, AnotherJobBeginsAnewAndSaysSo) {
  const TemporaryFolder folder;
  const std::string input = folder.write("texts.txt", numbered_lines(60000)).string();
  const fs::path out = folder.path() / "v.npy";
  const std::vector<std::string> embed = {
      "embed", tiny_model("st_mean").string(), "--file", input, "--out", out.string(), "--resume"};
  kill_in_the_middle(embed, out.string() + ".resume");
  std::vector<std::string> other = embed;
  other.insert(other.end(), {"--dimensions", "8"});
  folder.write("texts.txt", numbered_lines(300));
  const ProgramRun run = run_program(other);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_NE(run.error.find("the job begins anew"), std::string::npos) << run.error;
  EXPECT_EQ(formats::read_tensors(out).at(0).tensor.shape(), (Shape{DType::f32, {300, 8}}));
}

TEST(BigJob, ResumeNeedsFilesThatCanBeContinued) {
  const std::string model = tiny_model("st_mean").string();
  EXPECT_EQ(run_program({"embed", model, "a", "--resume", "--out", "v.npy"}).exit_code, 2);
  EXPECT_EQ(run_program({"embed", model, "--resume", "--file", "texts.txt"}).exit_code, 2);
  EXPECT_EQ(run_program({"embed", model, "--resume", "--file", "texts.txt", "--out", "v.json"}).exit_code, 2);
}

// What a job that takes more than a second writes to its terminal.
std::string shown_by_slow_job(const std::vector<std::string>& more, const std::string& type = "xterm") {
  const Terminal terminal;
  std::vector<std::string> arguments = {"embed", tiny_model("st_mean").string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  RunningProgram program(arguments,
                         {.input = "a text\n", .environment = {{"TERM", type}}, .error_path = terminal.name()});
  program.read_line();
  std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  program.write("another\n");
  program.close_input();
  EXPECT_EQ(program.wait(), 0);
  return terminal.written();
}

TEST(BigJob, ShowsItsProgressOnATerminalAndRemovesItAtTheEnd) {
  const std::string shown = shown_by_slow_job({});
  EXPECT_NE(shown.find("embed: 2 texts, "), std::string::npos) << shown;
  EXPECT_NE(shown.find(" texts/s"), std::string::npos) << shown;
  EXPECT_TRUE(shown.ends_with("\r\x1b[K")) << shown;
}

TEST(BigJob, SkipsRefusedLinesAndKeepsTheirPlaces) {
  const TemporaryFolder folder;
  const std::string lines =
      "{\"text\": \"the cat\", \"id\": 7}\nno JSON\n{\"title\": \"x\"}\n\n{\"text\": \"fox\"}\n"
      "{\"text\": \"a\", \"pair\": \"b\"}\n";
  const std::string input = folder.write("texts.jsonl", lines).string();
  const std::string model = tiny_model("st_mean").string();
  const ProgramRun stopped = run_program({"embed", model, "--file", input});
  EXPECT_EQ(stopped.exit_code, 2);
  const ProgramRun run = run_program({"embed", model, "--file", input, "--output", "jsonl", "--on-error", "skip"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  std::vector<std::int64_t> refused;
  std::vector<std::int64_t> indices;
  for (const std::string& line : lines_of(run.out)) {
    const auto item = formats::parse_json(line, "line");
    if (const auto* error = item.find("error")) {
      EXPECT_EQ(error->get_string("code", ""), "invalid_argument");
      EXPECT_NE(error->get_string("message", "").find("line " + std::to_string(item.get_int("line", 0))),
                std::string::npos);
      refused.push_back(item.get_int("line", 0));
      indices.push_back(-1);
    } else {
      indices.push_back(item.get_int("index", -2));
    }
  }
  EXPECT_EQ(refused, (std::vector<std::int64_t>{2, 3, 6}));
  EXPECT_EQ(indices, (std::vector<std::int64_t>{0, -1, -1, 1, -1}));
  EXPECT_EQ(lines_of(run.error).size(), 4U) << run.error;
  EXPECT_NE(run.error.find("3 lines of 5 were skipped"), std::string::npos) << run.error;

  const std::string npy = (folder.path() / "v.npy").string();
  EXPECT_EQ(run_program({"embed", model, "--file", input, "--on-error", "skip", "--out", npy}).exit_code, 0);
  EXPECT_EQ(formats::read_tensors(npy).at(0).tensor.shape(), (Shape{DType::f32, {2, 16}}));

  const ProgramRun tokens =
      run_program({"tokenize", model, "--file", input, "--output", "jsonl", "--on-error", "skip"});
  EXPECT_EQ(tokens.exit_code, 0) << tokens.error;
  EXPECT_EQ(lines_of(tokens.out).size(), 5U);  // it takes pairs
}

TEST(BigJob, AnInputOfRefusedLinesOnlyIsAnError) {
  const std::vector<std::string> arguments = {
      "embed", tiny_model("st_mean").string(), "--quiet", "--on-error", "skip", "--input", "jsonl"};
  const ProgramRun run = run_program(arguments, {.input = "a\nb\n"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.error.find("all lines of the input were refused (2)"), std::string::npos) << run.error;
  EXPECT_EQ(run_program(arguments, {.input = ""}).exit_code, 0);
  // What is wrong with the whole input is no refused line.
  EXPECT_EQ(run_program(arguments, {.input = std::string("\xff\xfe{\0", 4)}).exit_code, 2);
}

TEST(BigJob, ProgressCanBeTurnedOff) {
  EXPECT_EQ(shown_by_slow_job({"--no-progress"}), "");
  EXPECT_EQ(shown_by_slow_job({"--quiet"}), "");
  EXPECT_EQ(shown_by_slow_job({"--log-style", "json"}), "");
  EXPECT_EQ(shown_by_slow_job({}, "dumb"), "");
}

}  // namespace
}  // namespace alate::tests
