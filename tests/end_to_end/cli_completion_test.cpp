// Shell completion: what may follow, and the script under the real bash.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "program.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

using base::TemporaryFolder;

struct Answer {
  std::string paths;
  std::vector<std::string> words;
  bool has(const std::string& word) const { return std::ranges::find(words, word) != words.end(); }
};

Answer answer(std::vector<std::string> words, const ProgramSetting& setting = {}) {
  words.insert(words.begin(), {"__complete", "bash", "--"});
  const ProgramRun run = run_program(words, setting);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  Answer found{.paths = {}, .words = lines_of(run.out)};
  if (found.words.empty()) return found;
  found.paths = found.words.front();
  found.words.erase(found.words.begin());
  return found;
}

TEST(CliCompletion, VerbsAndTheirOptions) {
  const Answer verbs = answer({""});
  for (const std::string verb : {"embed", "serve", "demo", "completion", "--help"})
    EXPECT_TRUE(verbs.has(verb)) << verb;
  EXPECT_FALSE(verbs.has("__probe"));
  EXPECT_EQ(answer({"to"}).words, std::vector<std::string>{"tokenize"});
  const Answer options = answer({"tokenize", "m", "--"});
  for (const std::string option : {"--decode", "--max-length", "--out", "--help", "--version"})
    EXPECT_TRUE(options.has(option)) << option;
  EXPECT_FALSE(options.has("--batch-size"));
  EXPECT_EQ(answer({"embed", "--no-n"}).words, std::vector<std::string>{"--no-normalize"});
  EXPECT_TRUE(answer({"embed", "m", "--", "--"}).words.empty()) << "texts follow two dashes";
  EXPECT_TRUE(answer({"nothing", ""}).words.empty());
  EXPECT_TRUE(answer({"help", ""}).has("quantize"));
}

TEST(CliCompletion, ValuesOfOptions) {
  EXPECT_EQ(answer({"bench", "m", "--output", ""}).words,
            (std::vector<std::string>{"text", "markdown", "csv", "json"}));
  EXPECT_EQ(answer({"embed", "--policy", "s"}).words, std::vector<std::string>{"strict"});
  EXPECT_EQ(answer({"embed", "--output=js"}).words, (std::vector<std::string>{"--output=json", "--output=jsonl"}));
  EXPECT_EQ(answer({"compare", "m", "--backends", "reference,cp"}).words, std::vector<std::string>{"reference,cpu"});
  EXPECT_TRUE(answer({"embed", "--dtype", ""}).has("bfloat16"));
  EXPECT_TRUE(answer({"embed", "--backend", ""}).has("cpu"));
  EXPECT_TRUE(answer({"serve", "--log-level", ""}).has("debug"));
  EXPECT_TRUE(answer({"serve", "--gpu", ""}).has("off"));
  EXPECT_TRUE(answer({"backends", ""}).has("install"));
  EXPECT_TRUE(answer({"backends", "install", ""}).has("onnx"));
  EXPECT_EQ(answer({"completion", "z"}).words, std::vector<std::string>{"zsh"});
  EXPECT_EQ(answer({"embed", "m", "--file", ""}).paths, "files");
  EXPECT_EQ(answer({"embed", "m", "-o", ""}).paths, "files");
  EXPECT_EQ(answer({"embed", "m", "--models-dir", ""}).paths, "folders");
  EXPECT_EQ(answer({"embed", "m", "--output", ""}).paths, "none");
}

TEST(CliCompletion, Models) {
  const TemporaryFolder folder;
  const auto models = folder.path() / "models";
  for (const std::string name : {"someone/mean", "someone/line\nbreak"}) {
    std::filesystem::create_directories((models / name).parent_path());
    std::filesystem::copy(tiny_model("st_mean"), models / name, std::filesystem::copy_options::recursive);
  }
  const ProgramSetting home{.environment = {{"ALATE_HOME", folder.path().string()}}};
  const Answer all = answer({"embed", ""}, home);
  EXPECT_TRUE(all.has("someone/mean"));
  EXPECT_TRUE(all.has("builtin:minilm"));
  EXPECT_FALSE(all.has("break")) << "a name must not become two lines";
  EXPECT_EQ(all.paths, "files");
  EXPECT_EQ(answer({"embed", "some"}, home).words, std::vector<std::string>{"someone/mean"});
  EXPECT_EQ(answer({"embed", "--models-dir", models.string(), "some"}).words, std::vector<std::string>{"someone/mean"});
  EXPECT_EQ(answer({"embed", "some"}, {.environment = {{"ALATE_MODELS_DIR", models.string()}}}).words,
            std::vector<std::string>{"someone/mean"});
  EXPECT_TRUE(answer({"embed", "some", "some"}, home).words.empty()) << "a text follows the model";
  const std::string broken = folder.write("alate.yaml", "models_dir: [").string();
  EXPECT_TRUE(answer({"embed", ""}, {.environment = {{"ALATE_CONFIG", broken}}}).has("builtin:minilm"));
}

// What bash would offer for a line with the cursor at its end, whose words it broke as given.
std::vector<std::string> bash_offers(const std::string& line, const std::vector<std::string>& words,
                                     const ProgramSetting& more = {}) {
  std::string script =
      "compopt() { :; }\n. <(\"$PROGRAM_UNDER_TEST\" completion bash)\nCOMP_LINE='" + line + "'\nCOMP_WORDS=(";
  for (const std::string& word : words) script += "'" + word + "' ";
  script +=
      ")\nCOMP_POINT=${#COMP_LINE}\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
      "_alate\nprintf '%s\\n' \"${COMPREPLY[@]}\"\ncomplete -p alate >/dev/null\n";
  ProgramSetting setting = more;
  setting.program = "/bin/bash";
  const std::string folder = std::filesystem::path(program_path()).parent_path().string();
  setting.environment.emplace_back("PATH", folder + ":/usr/bin:/bin");
  setting.environment.emplace_back("PROGRAM_UNDER_TEST", program_path());
  const ProgramRun run = run_program({"--norc", "-c", script}, setting);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  return lines_of(run.out);
}

TEST(CliCompletion, WorksUnderBash) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(bash_offers("alate tok", {"alate", "tok"}), Words{"tokenize"});
  EXPECT_EQ(bash_offers("alate embed  --poli", {"alate", "embed", "--poli"}), Words{"--policy"});
  // Bash breaks words at colons and equal signs, and replaces only the last part.
  EXPECT_EQ(bash_offers("alate embed builtin:mini", {"alate", "embed", "builtin", ":", "mini"}), Words{"minilm"});
  EXPECT_EQ(bash_offers("alate embed builtin:", {"alate", "embed", "builtin", ":"}), (Words{"minilm", "pii"}));
  EXPECT_EQ(bash_offers("alate embed --output=saf", {"alate", "embed", "--output", "=", "saf"}), Words{"safetensors"});
  EXPECT_EQ(bash_offers("alate embed m --policy ", {"alate", "embed", "m", "--policy", ""}),
            (Words{"strict", "warn", "allow"}));
}

TEST(CliCompletion, NamesAreQuotedForBash) {
  const TemporaryFolder folder;
  const auto model = folder.path() / "models" / "$(touch x) y";
  std::filesystem::create_directories(model.parent_path());
  std::filesystem::copy(tiny_model("st_mean"), model, std::filesystem::copy_options::recursive);
  EXPECT_EQ(
      bash_offers("alate embed $", {"alate", "embed", "$"}, {.environment = {{"ALATE_HOME", folder.path().string()}}}),
      std::vector<std::string>{"\\$\\(touch\\ x\\)\\ y"});
}

TEST(CliCompletion, ScriptsAreForThreeShells) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const ProgramRun run = run_program({"completion", shell});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.out.find("__complete " + shell), std::string::npos);
    // Where the shell is here, it reads its script.
    const ProgramRun check = run_program({"-c", "command -v " + shell + " >/dev/null || exit 0; " + shell + " -n"},
                                         {.program = "/bin/sh", .input = run.out});
    EXPECT_EQ(check.exit_code, 0) << check.error;
  }
  EXPECT_EQ(run_program({"completion", "tcsh"}).exit_code, 2);
  EXPECT_EQ(run_program({"completion"}).exit_code, 2);
}

}  // namespace
}  // namespace alate::tests
