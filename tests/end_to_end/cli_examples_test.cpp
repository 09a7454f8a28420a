// Every example of every help runs as it stands, on a machine where nothing but the program is.
#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "program.h"
#include "tests/golden/tiny_answerers.h"
#include "tests/golden/tiny_classifiers.h"
#include "tests/golden/tiny_extractors.h"
#include "tests/golden/tiny_fillers.h"
#include "tests/golden/tiny_generators.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/quantization/tiny_encoder.h"

namespace alate::tests {
namespace {

using base::TemporaryFolder;

// Lines that are not run, and why.
const std::map<std::string, std::string> kNotRun = {
    {"alate backends install onnx", "it needs a network"},
    {"alate chat", "it needs a network"},
    {"alate chat hf:Qwen/Qwen3-0.6B-GGUF", "it needs a network"},
    {"alate pull hf:sentence-transformers/all-MiniLM-L6-v2 --dry-run", "it needs a network"},
    {"alate pull hf:sentence-transformers/all-MiniLM-L6-v2", "it needs a network"}};

// Lines that go on until they are ended: these are started, and stopped when they listen.
const std::set<std::string> kEndless = {"alate serve builtin:minilm", "alate serve --config alate.yaml",
                                        "alate serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem"};

// The examples at the end of a help; lines that begin with blanks belong to those before them.
std::vector<std::string> examples_of(const std::string& verb) {
  std::vector<std::string> examples;
  bool is_inside = false;
  for (const std::string& line : lines_of(run_program({"help", verb}).out)) {
    if (is_inside && line.empty()) break;
    if (is_inside && line.starts_with("    ")) {
      examples.back() += "\n" + line.substr(2);
    } else if (is_inside) {
      examples.push_back(line.substr(2));
    }
    is_inside = is_inside || line == "Example:";
  }
  return examples;
}

class CliExamples : public testing::Test {
 protected:
  CliExamples() {
    // For quantize: a small model under the name of one that would come from the network.
    const TemporaryFolder model;
    quantization::write_tiny_encoder(model);
    const auto named = home() / ".cache/alate/models/sentence-transformers/all-MiniLM-L6-v2";
    std::filesystem::create_directories(named.parent_path());
    std::filesystem::copy(model.path(), named, std::filesystem::copy_options::recursive);
    // And for rerank, classify, answer, fill and generate, of which no model comes with the program.
    write_tiny_reranker(home() / ".cache/alate/models/cross-encoder/ms-marco-MiniLM-L6-v2");
    write_tiny_classifier(home() / ".cache/alate/models/distilbert/distilbert-base-uncased-finetuned-sst-2-english");
    write_tiny_classifier(home() / ".cache/alate/models/MoritzLaurer/deberta-v3-base-zeroshot-v2.0");
    write_tiny_answerer(home() / ".cache/alate/models/deepset/roberta-base-squad2");
    write_tiny_filler(home() / ".cache/alate/models/FacebookAI/roberta-base", "byte_level");
    write_tiny_extractor(home() / ".cache/alate/models/fastino/gliner2-base-v1", "lstm_v2");
    write_tiny_generator(home() / ".cache/alate/models/HuggingFaceTB/SmolLM2-135M-Instruct");
    std::filesystem::create_directories(folder_.path() / "work");
    std::filesystem::create_directories(folder_.path() / "bin");
    std::filesystem::create_symlink(program_path(), folder_.path() / "bin" / "alate");
  }

  std::filesystem::path home() const { return folder_.path() / "home"; }

  ProgramSetting shell(const std::string& port = "") const {
    const char* path = std::getenv("PATH");
    ProgramSetting setting{.program = "/bin/bash",
                           .environment = {{"HOME", home().string()},
                                           {"XDG_CACHE_HOME", ""},
                                           {"XDG_CONFIG_HOME", ""},
                                           {"PATH", (folder_.path() / "bin").string() + ":" + (path ? path : "")}}};
    if (!port.empty()) setting.environment.emplace_back("ALATE_PORT", port);
    return setting;
  }

  std::vector<std::string> script(const std::string& line) const {
    return {"-c", "set -e -o pipefail; cd '" + (folder_.path() / "work").string() + "'; " + line};
  }

  void expect_runs(const std::string& line, const ProgramSetting& setting) const {
    SCOPED_TRACE(line);
    const ProgramRun run = run_program(script(line), setting);
    EXPECT_EQ(run.exit_code, 0) << run.error << run.out;
  }

  // Runs `meanwhile` with the port while the server listens.
  template <typename Meanwhile>
  void expect_serves(const std::string& line, const Meanwhile& meanwhile) const {
    SCOPED_TRACE(line);
    RunningProgram server(script("exec " + line), shell("0"));
    const std::string first = server.read_line();
    EXPECT_TRUE(first.starts_with("listening on http")) << first;
    meanwhile(first.substr(first.rfind(':') + 1));
    server.signal(SIGTERM);
    EXPECT_EQ(server.wait(std::chrono::seconds(60)), 0);
  }

  TemporaryFolder folder_;
};

TEST_F(CliExamples, OfEveryVerbRun) {
  std::set<std::string> seen;
  std::size_t verbs = 0;
  for (const std::string& line : lines_of(run_program({}).out)) {
    const std::string verb = line.starts_with("  ") ? line.substr(2, line.find(' ', 2) - 2) : "";
    if (verb.empty() || verb == "alate" || run_program({"help", verb}).exit_code != 0) continue;
    SCOPED_TRACE(verb);
    ++verbs;
    const std::vector<std::string> examples = examples_of(verb);
    EXPECT_FALSE(examples.empty());
    for (const std::string& example : examples) {
      seen.insert(example);
      if (kNotRun.contains(example) || verb == "ps" || verb == "load" || verb == "unload") continue;  // ask a server
      if (kEndless.contains(example)) {
        expect_serves(example, [](const std::string&) {});
      } else {
        expect_runs(example, shell());
      }
    }
  }
  EXPECT_GE(verbs, 13u);
  for (const auto& [line, reason] : kNotRun) EXPECT_TRUE(seen.contains(line)) << line << " is no example any more";
  for (const std::string& line : kEndless) EXPECT_TRUE(seen.contains(line)) << line << " is no example any more";
}

TEST_F(CliExamples, OfPsRunBesideAServer) {
  expect_serves("alate serve builtin:minilm", [&](const std::string& port) {
    const std::vector<std::string> examples = examples_of("ps");
    EXPECT_GE(examples.size(), 2u);
    for (std::string example : examples) {
      if (const std::size_t usual = example.find("11433"); usual != std::string::npos) example.replace(usual, 5, port);
      expect_runs(example, shell(port));
    }
  });
}

TEST_F(CliExamples, OfTheOverviewRun) {
  std::size_t count = 0;
  for (const std::string& line : lines_of(run_program({}).out)) {
    if (!line.starts_with("  alate ")) continue;
    ++count;
    if (!kNotRun.contains(line.substr(2))) expect_runs(line, shell());
  }
  EXPECT_GE(count, 2u);
}

}  // namespace
}  // namespace alate::tests
