// The program's errors: one line, and the documented exit code.
#include <gtest/gtest.h>

#include <string>

#include "program.h"
#include "terminal.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

using base::TemporaryFolder;

// One line "alate: CODE: ..." on standard error, nothing on standard output.
std::string failure(int exit_code, const std::string& code, const std::vector<std::string>& arguments,
                    const ProgramSetting& setting = {.input = "a text\n"}) {
  const ProgramRun run = run_program(arguments, setting);
  EXPECT_EQ(run.exit_code, exit_code) << run.error;
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(run.error.starts_with("alate: " + code + ": ")) << run.error;
  EXPECT_EQ(run.error.find('\n'), run.error.size() - 1) << run.error;
  return run.error;
}

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "lacks " << part;
}

const std::string& mean_model() {
  static const std::string path = tiny_model("st_mean").string();
  return path;
}

// A copy of a tiny model in which one file is another.
void copy_model(const std::string& name, const std::filesystem::path& to) {
  std::filesystem::create_directories(to.parent_path());
  std::filesystem::copy(tiny_model(name), to, std::filesystem::copy_options::recursive);
}

TEST(CliErrors, ShowWhatTheySay) {
  const std::string error = failure(4, "not_found", {"embed", "./a\u202egpj.exe\u200f\x1b[2J\xff"});
  expect_has(error, "a\\u202egpj.exe\\u200f\\u001b[2J\ufffd");
}

TEST(CliErrors, UsageIsTwoAndPointsAtTheHelp) {
  expect_has(failure(2, "invalid_argument", {"embd"}), "did you mean embed?");
  expect_has(failure(2, "invalid_argument", {"--threads", "2"}), "alate --help");
  expect_has(failure(2, "invalid_argument", {"embed"}), "MODEL is missing; see `alate embed --help`");
  expect_has(failure(2, "invalid_argument", {"embed", mean_model(), "--ouput", "json"}), "did you mean --output?");
  expect_has(failure(2, "invalid_argument", {"embed", mean_model(), "--out"}), "--out needs a value");
  expect_has(failure(2, "invalid_argument", {"embed", mean_model(), "--threads", "two"}),
             "--threads is a whole number");
  expect_has(failure(2, "invalid_argument", {"embed", mean_model(), "--threads", "-1"}), "--threads");
  expect_has(failure(2, "invalid_argument", {"embed", mean_model(), "--output", "xml"}), "safetensors");
  expect_has(failure(2, "invalid_argument", {"tokenize", mean_model(), "--output", "npy"}), "text, json, jsonl");
  expect_has(failure(2, "invalid_argument", {"embed", mean_model(), "--policy", "maybe"}), "strict, warn, allow");
  expect_has(failure(2, "invalid_argument", {"embed", mean_model(), "--log-level", "loud"}), "trace");
  expect_has(failure(2, "invalid_argument", {"embed", mean_model(), "--backend", "fpga"}), "reference");
  expect_has(failure(2, "invalid_argument", {"embed", mean_model(), "text", "--file", "x"}), "not both");
  expect_has(failure(2, "invalid_argument", {"version", "extra"}), "too many");
  expect_has(failure(2, "invalid_argument", {"help", "nothing"}), "nothing");
}

TEST(CliErrors, WhatTheModelCannotMeetIsTwo) {
  failure(2, "invalid_argument", {"embed", mean_model(), "a", "--dimensions", "1000"});
  failure(2, "invalid_argument", {"embed", mean_model(), "a", "--max-length", "100000"});
  failure(2, "invalid_argument", {"embed", mean_model(), "a", "--prompt-name", "nobody"});
  failure(2, "invalid_argument", {"embed", mean_model(), "--dimensions", "1000"}, {});
}

TEST(CliErrors, UnsupportedIsThreeAndEndsInTheName) {
  EXPECT_TRUE(failure(3, "unsupported", {"embed", mean_model(), "--dtype", "int4"}).ends_with("int4\n"));
  const TemporaryFolder folder;
  copy_model("st_mean", folder.path() / "model");
  folder.write("model/config.json", R"({"model_type": "mamba", "architectures": ["MambaModel"]})");
  const std::string error = failure(3, "unsupported", {"embed", (folder.path() / "model").string()});
  EXPECT_TRUE(error.ends_with("mamba\n") || error.ends_with("MambaModel\n")) << error;
  EXPECT_TRUE(failure(3, "unsupported", {"forward", mean_model(), "--inputs", "x", "--outputs", "out.mat"})
                  .ends_with(".mat\n"));
}

TEST(CliErrors, NotFoundIsFour) {
  EXPECT_NE(failure(4, "not_found", {"embed", "hf:nobody/name"}).find("alate pull hf:nobody/name"), std::string::npos);
  const TemporaryFolder folder;
  const std::string models = folder.path().string();
  expect_has(failure(4, "not_found", {"embed", "./nowhere"}), "./nowhere");
  expect_has(failure(4, "not_found", {"embed", "nowhere", "--models-dir", models}), models);
  failure(4, "not_found", {"embed", "builtin:nowhere"});
  failure(4, "not_found", {"embed", mean_model(), "--file", models + "/nowhere.txt"});
  failure(4, "not_found", {"embed", mean_model(), "--out", models + "/no/folder.txt"});
  failure(4, "not_found", {"tokenize", models});
}

TEST(CliErrors, TooLargeIsFive) {
  failure(5, "resource_exhausted", {"bench", mean_model(), "--lengths", "1000000000000"});
  failure(5, "resource_exhausted", {"embed", mean_model(), "cat"}, {.output_path = "/dev/full"});
}

TEST(CliErrors, UnavailableIsSix) {
  expect_has(failure(6, "unavailable", {"embed", mean_model(), "--backend", "cuda", "--policy", "strict"}), "cuda");
  expect_has(failure(6, "unavailable", {"embed", mean_model(), "--backend", "cpu:7", "--policy", "strict"}), "cpu:7");
}

TEST(CliErrors, CorruptIsSeven) {
  const TemporaryFolder folder;
  copy_model("st_mean", folder.path() / "model");
  folder.write("model/model.safetensors", "no tensors");
  failure(7, "corrupt", {"embed", (folder.path() / "model").string()});
  failure(7, "corrupt", {"tokenize", folder.write("tokenizer.json", "{").string()});
}

// What is on a terminal, without the carriage return that it adds.
std::string shown(const std::vector<std::string>& arguments) {
  const Terminal terminal;
  run_program(arguments, {.error_path = terminal.name()});
  std::string text = terminal.written();
  std::erase(text, '\r');
  return text;
}

TEST(CliErrors, AtATerminalTheyAreForPeople) {
  EXPECT_EQ(shown({"embed", mean_model(), "a", "--threads", "two"}),
            "alate: --threads is a whole number from 0; see `alate embed --help`\n");
  const std::string missing = shown({"embed", "./nowhere", "a"});
  EXPECT_EQ(missing, "alate: there is no file or folder \"./nowhere\"\n");
  const TemporaryFolder folder;
  copy_model("st_mean", folder.path() / "model");
  const std::string model = (folder.path() / "model").string();
  folder.write("model/config.json", R"({"model_type": "mamba", "architectures": ["MambaModel"]})");
  const std::string unsupported = shown({"embed", model, "a"});
  EXPECT_TRUE(unsupported.starts_with("alate: not supported: architecture 'mamba'")) << unsupported;
  EXPECT_FALSE(unsupported.ends_with(": mamba\n")) << unsupported;
  EXPECT_TRUE(failure(3, "unsupported", {"embed", model, "a"}).ends_with(": mamba\n"));
  EXPECT_TRUE(shown({"embed", model, "a", "--log-style", "json"}).starts_with("alate: unsupported: "));
}

TEST(CliErrors, InterruptedIsOneHundredAndThirty) {
  const ProgramRun run = interrupt_program({"tokenize", mean_model()}, "the cat\n");
  EXPECT_EQ(run.exit_code, 130);
  EXPECT_EQ(run.error, "alate: cancelled: interrupted\n");
  EXPECT_TRUE(run.out.starts_with("       2")) << run.out;
}

TEST(CliErrors, AReaderThatGoesAwayIsNoError) {
  const std::string many(200000, '\n');
  const ProgramRun run = run_program_without_reader({"tokenize", mean_model()}, {.input = many});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.error, "");
}

TEST(CliErrors, StartsWithoutStandardOutput) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "out.txt").string();
  const ProgramRun run = run_program({"embed", mean_model(), "cat", "--out", file}, {.closed_output = true});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(base::read_text_file(file), run_program({"embed", mean_model(), "cat"}).out);
}

}  // namespace
}  // namespace alate::tests
