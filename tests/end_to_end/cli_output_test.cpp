// Output files: refused before the work, complete or absent, and in the format that their name promises.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <set>
#include <string>
#include <thread>

#include "program.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

namespace fs = std::filesystem;
using base::TemporaryFolder;

std::string mean_model() { return tiny_model("st_mean").string(); }

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

// The one line of a failure.
std::string failure(int exit_code, const std::vector<std::string>& arguments,
                    const ProgramSetting& setting = {.input = "a text\n"}) {
  const ProgramRun run = run_program(arguments, setting);
  EXPECT_EQ(run.exit_code, exit_code) << run.error;
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(lines_of(run.error).size(), 1U) << run.error;
  return run.error;
}

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "lacks " << part;
}

// Waits until a folder has these entries and no others.
void wait_for(const fs::path& folder, const std::set<std::string>& names) {
  for (int i = 0; i < 6000 && names_in(folder) != names; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_EQ(names_in(folder), names);
}

std::string temporary_name(const RunningProgram& program, const std::string& name) {
  return name + ".tmp." + std::to_string(program.process()) + ".0";
}

std::string many_texts() {
  std::string lines;
  for (int i = 0; i < 500; ++i) lines += "the cat sat on the mat\n";
  return lines;
}

// Calls of every verb that has a result, on a model that is not there: the output comes first.
std::vector<std::vector<std::string>> calls_without_a_model() {
  const std::string model = "./nowhere";
  return {{"embed", model, "a"},
          {"tokenize", model, "a"},
          {"forward", model, "--inputs", "nowhere.npz", "--outputs", "out.npz"},
          {"bench", model, "--lengths", "3"},
          {"compare", model, "a", "--backends", "cpu,reference"},
          {"estimate", model},
          {"quantize", model, "nowhere", "--type", "int8"},
          {"backends"},
          {"doctor", model},
          {"version"},
          {"demo", model, "a"},
          {"ps", "--url", "http://127.0.0.1:1"}};
}

TEST(CliOutput, APlaceThatCannotBeWrittenIsRefusedBeforeTheWork) {
  const TemporaryFolder folder;
  const std::string absent = (folder.path() / "absent").string();
  for (std::vector<std::string> call : calls_without_a_model()) {
    SCOPED_TRACE(call[0]);
    call.insert(call.end(), {"--out", absent + "/result.txt"});
    expect_has(failure(4, call), "cannot write " + absent + "/result.txt: there is no folder " + absent);
    call.back() = folder.path().string();
    expect_has(failure(2, call), " is a folder; name a file in it");
  }
  expect_has(failure(4, {"forward", "./nowhere", "--inputs", "nowhere.npz", "--outputs", absent + "/out.npz"}),
             "there is no folder " + absent);
  expect_has(failure(4, {"quantize", mean_model(), absent + "/model", "--type", "int8"}),
             "there is no folder " + absent);
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{});
}

TEST(CliOutput, AFailureLeavesTheOldFileAndNothingElse) {
  const TemporaryFolder folder;
  const std::string file = folder.write("v.txt", "old").string();
  failure(2, {"embed", mean_model(), "a", "--dimensions", "1000", "--out", file});
  EXPECT_EQ(base::read_text_file(file), "old");
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"v.txt"});
}

TEST(CliOutput, SignalsRemoveWhatIsUnfinished) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    SCOPED_TRACE(signal);
    const TemporaryFolder folder;
    const std::string file = folder.write("v.txt", "old").string();
    RunningProgram program({"embed", mean_model(), "--out", file}, {.input = "a text\n"});
    wait_for(folder.path(), {"v.txt", temporary_name(program, "v.txt")});
    program.signal(signal);
    EXPECT_EQ(program.wait(), signal == SIGINT ? 130 : -1);
    EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"v.txt"});
    EXPECT_EQ(base::read_text_file(file), "old");
  }
}

TEST(CliOutput, TheNextRunSweepsWhatAKilledOneLeft) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "v.txt").string();
  const std::vector<std::string> embed = {"embed", mean_model(), "--out", file};
  {
    RunningProgram program(embed);
    wait_for(folder.path(), {temporary_name(program, "v.txt")});
    program.signal(SIGKILL);
    program.wait();
  }
  ASSERT_EQ(names_in(folder.path()).size(), 1U);
  // A run that still goes on keeps its file.
  RunningProgram other(embed);
  const std::string of_other = temporary_name(other, "v.txt");
  wait_for(folder.path(), {of_other});
  EXPECT_EQ(run_program(embed, {.input = "cat\n"}).exit_code, 0);
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"v.txt", of_other}));
  other.write("fox\n");
  other.close_input();
  EXPECT_EQ(other.wait(), 0);
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"v.txt"});
  EXPECT_EQ(base::read_text_file(file), run_program({"embed", mean_model(), "fox"}).out);
}

TEST(CliOutput, AFullDiskIsFiveAndLeavesNothing) {
  const TemporaryFolder folder;
  const auto path = [&](const std::string& name) { return (folder.path() / name).string(); };
  const ProgramSetting full = {.input = many_texts(), .file_size = 2048};
  for (const std::string name : {"v.txt", "v.jsonl", "v.json", "v.csv", "v.npy", "v.safetensors"})
    expect_has(failure(5, {"embed", mean_model(), "--out", path(name)}, full), "cannot write " + path(name));
  expect_has(failure(5, {"tokenize", mean_model(), "--out", path("v.jsonl")}, full), "make room");
  expect_has(failure(5, {"quantize", mean_model(), path("model"), "--type", "int8"}, full), "model");
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{});
  std::vector<formats::NamedTensor> inputs = {
      {"input_ids", Tensor::from<std::int64_t>({1, 40}, std::vector<std::int64_t>(40, 5))}};
  formats::write_tensors(path("in.npz"), inputs);
  expect_has(failure(5, {"forward", mean_model(), "--inputs", path("in.npz"), "--outputs", path("out.npz")}, full),
             "cannot write " + path("out.npz"));
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"in.npz"});
  expect_has(failure(5, {"embed", mean_model(), "cat", "--dump-graph", path("graphs")}, full), path("graphs"));
}

TEST(CliOutput, AFullDeviceIsFiveToo) {
  for (const std::string format : {"text", "json", "npy"})
    failure(5, {"embed", mean_model(), "cat", "--output", format, "--out", "/dev/full"});
  failure(5, {"version"}, {.output_path = "/dev/full"});
  failure(5, {"help"}, {.output_path = "/dev/full"});
  failure(5, {"tokenize", mean_model()}, {.input = many_texts(), .output_path = "/dev/full"});
}

TEST(CliOutput, AClosedStandardOutputIsTwo) {
  for (const std::vector<std::string>& call : {std::vector<std::string>{"embed", mean_model(), "cat"},
                                               {"--version"},
                                               {"help", "embed"},
                                               {"doctor", "./nowhere"}}) {
    SCOPED_TRACE(call[0]);
    expect_has(failure(2, call, {.closed_output = true}), "standard output is closed");
  }
}

TEST(CliOutput, TheEndingOfTheNameChoosesTheFormat) {
  const TemporaryFolder folder;
  const std::vector<std::string> embed = {"embed", mean_model(), "cat", "fox"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), embed.begin(), embed.end());
    return run_program(more);
  };
  for (const auto& [name, format] : {std::pair<std::string, std::string>{"v.txt", "text"},
                                     {"v", "text"},
                                     {"v.jsonl", "jsonl"},
                                     {"v.NDJSON", "jsonl"},
                                     {"v.csv", "csv"},
                                     {"v.Npy", "npy"},
                                     {"v.safetensors", "safetensors"}}) {
    SCOPED_TRACE(name);
    const std::string file = (folder.path() / name).string();
    EXPECT_EQ(with({"--out", file}).exit_code, 0);
    EXPECT_EQ(base::read_text_file(file), with({"--output", format}).out);
    EXPECT_EQ(with({"--out", file, "--output", format}).exit_code, 0);
  }
  EXPECT_EQ(with({"--out", "-"}).out, with({}).out);
}

TEST(CliOutput, ANameThatPromisesAnotherFormatIsRefused) {
  const TemporaryFolder folder;
  const auto path = [&](const std::string& name) { return (folder.path() / name).string(); };
  const std::string unknown = failure(2, {"embed", "./nowhere", "cat", "--out", path("v.parquet")});
  expect_has(unknown, "no format has files that end in .parquet");
  expect_has(unknown, ".txt, .json, .jsonl, .csv, .npy, .safetensors");
  expect_has(failure(2, {"doctor", "--out", path("v.html")}), "this command writes .txt, .json,");
  expect_has(failure(2, {"embed", "./nowhere", "cat", "--out", path("v.npy"), "--output", "json"}),
             "ends like a file of npy, but --output (or ALATE_OUTPUT, or the configuration) asks for json");
  failure(2, {"embed", "./nowhere", "cat", "--out", path("v.txt"), "--output", "npy"});
  failure(2, {"embed", "./nowhere", "cat", "--out", path("v.jsonl"), "--output", "json"});
  failure(2, {"tokenize", "./nowhere", "cat", "--out", path("v.npy")});
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{});
  // Text of any format may be in a .txt, and a name that promises nothing takes what is asked for.
  EXPECT_EQ(run_program({"embed", mean_model(), "cat", "--out", path("v.txt"), "--output", "csv"}).exit_code, 0);
  EXPECT_EQ(run_program({"embed", mean_model(), "cat", "--out", path("v.data"), "--output", "npy"}).exit_code, 0);
}

}  // namespace
}  // namespace alate::tests
