// Environment variables that nothing reads: a warning with the nearest name, and none for those that something reads.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "program.h"
#include "tests/source_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

ProgramRun version_with(std::vector<std::pair<std::string, std::string>> environment,
                        std::vector<std::string> more = {}) {
  more.insert(more.begin(), "version");
  return run_program(more, {.environment = std::move(environment)});
}

TEST(CliVariables, AMistypedNameGetsOneWarningWithTheNearest) {
  const ProgramRun run =
      run_program({"embed", tiny_model("st_mean").string(), "the cat"}, {.environment = {{"ALATE_MAX_LENGHT", "8"}}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, run_program({"embed", tiny_model("st_mean").string(), "the cat"}).out);
  EXPECT_EQ(lines_of(run.error).size(), 1u) << run.error;
  EXPECT_NE(run.error.find("ALATE_MAX_LENGHT (did you mean ALATE_MAX_LENGTH?)"), std::string::npos) << run.error;
}

TEST(CliVariables, SeveralAreOneLine) {
  const ProgramRun run = version_with({{"ALATE_THREDS", "2"}, {"ALATE_KEEP_ALVE", "1"}, {"ALATE_SOMETHING_ELSE", "1"}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(lines_of(run.error).size(), 1u) << run.error;
  EXPECT_NE(run.error.find("ALATE_KEEP_ALVE (did you mean ALATE_KEEP_ALIVE?)"), std::string::npos) << run.error;
  EXPECT_NE(run.error.find("ALATE_THREDS (did you mean ALATE_THREADS?)"), std::string::npos) << run.error;
  EXPECT_NE(run.error.find("ALATE_SOMETHING_ELSE"), std::string::npos) << run.error;
  EXPECT_EQ(run.error.find("ALATE_SOMETHING_ELSE (did"), std::string::npos) << run.error;
}

TEST(CliVariables, QuietAndEmptyOnesAreNotMentioned) {
  EXPECT_EQ(version_with({{"ALATE_MAX_LENGHT", "8"}}, {"--quiet"}).error, "");
  EXPECT_EQ(version_with({{"ALATE_MAX_LENGHT", "8"}, {"ALATE_QUIET", "1"}}).error, "");
  EXPECT_EQ(version_with({{"ALATE_MAX_LENGHT", ""}}).error, "");
}

TEST(CliVariables, OptionsOfAnyVerbAndKubernetesServicesAreExpected) {
  const ProgramRun run = version_with({{"ALATE_PROBE", "1"},
                                       {"ALATE_LENGTHS", "32"},
                                       {"ALATE_API_KEYS", "k"},
                                       {"ALATE_SERVICE_HOST", "10.0.0.1"},
                                       {"ALATE_SERVICE_PORT_HTTP", "80"},
                                       {"ALATE_PORT_11433_TCP_ADDR", "10.0.0.1"},
                                       {"ALATE_WEB_PORT", "tcp://10.0.0.1:80"}});
  EXPECT_EQ(run.error, "");
}

// Names that the code, the tests and the tools read from the environment.
std::set<std::string> names_read_by_code() {
  const std::regex reading(
      R"((?:environ(?:ment)?(?:\.get)?[(\[]|getenv\(|kVariable = |\$ENV\{|\$\{|\$)["']?(ALATE_[A-Z_]*[A-Z])\b)");
  std::set<std::string> names;
  for (const std::string folder : {"src", "apps", "tests", "tools", "bench", "deploy"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source_folder() / folder)) {
      const std::string extension = entry.path().extension().string();
      const bool is_code = extension == ".cpp" || extension == ".h" || extension == ".py";
      const bool is_script = extension.empty() && folder != "tests";
      if (!entry.is_regular_file() || !(is_code || is_script)) continue;
      const std::string text = base::read_text_file(entry.path());
      for (std::sregex_iterator each(text.begin(), text.end(), reading), end; each != end; ++each)
        names.insert((*each)[1].str());
    }
  }
  return names;
}

TEST(CliVariables, WhateverTheCodeReadsIsExpected) {
  const std::set<std::string> names = names_read_by_code();
  for (const std::string known : {"ALATE_HOME", "ALATE_ISA", "ALATE_BACKEND_PATH", "ALATE_BUILTIN_MODELS",
                                  "ALATE_PACKAGE_INDEX", "ALATE_PROGRAM", "ALATE_TEST_MODEL_DIR"})
    EXPECT_TRUE(names.contains(known)) << known;
  for (const std::string& name : names) {
    const std::string value = name == "ALATE_ISA" ? "scalar" : name == "ALATE_OFFLINE" ? "1" : "/tmp";
    const std::string error = version_with({{name, value}}).error;
    EXPECT_EQ(error.find("nothing reads"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace alate::tests
