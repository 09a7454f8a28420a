// Long inputs: their memory does not grow with them, and their parts come one after the other whatever happens.
// ALATE_TEST_MODEL_DIR names the folder of all-MiniLM-L6-v2.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "program.h"
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

TEST(BigJob, MemoryDoesNotGrowWithTheInput) {
  const TemporaryFolder folder;
  constexpr std::size_t kTexts = 6000;
  const std::string few = folder.write("few.txt", numbered_lines(kTexts)).string();
  const std::string many = folder.write("many.txt", numbered_lines(4 * kTexts)).string();
  for (const std::string format : {"npy", "json", "jsonl"}) {
    SCOPED_TRACE(format);
    const std::string out = (folder.path() / ("v." + format)).string();
    const auto peak = [&](const std::string& file) {
      const ProgramRun run = run_program({"embed", large_model(), "--quiet", "--file", file, "--out", out});
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

}  // namespace
}  // namespace alate::tests
