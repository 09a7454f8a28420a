// The version, and the options that verbs share.
#include <gtest/gtest.h>

#include <string>

#include "program.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

using base::TemporaryFolder;

std::string good(const std::vector<std::string>& arguments, const ProgramSetting& setting = {}) {
  const ProgramRun run = run_program(arguments, setting);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  return run.out;
}

std::string mean_model() { return tiny_model("st_mean").string(); }

TEST(CliVersion, IsTheFirstLineBeforeTheAuthorsOfModels) {
  const std::string version = good({"--version"});
  EXPECT_TRUE(version.starts_with("alate 0.1.0\n")) << version;
  EXPECT_EQ(good({"embed", "--version"}), version);
  for (const std::string& text : {version, good({"version"}), good({"version", "--output", "json"})}) {
    EXPECT_NE(text.find("Rampart by National Design Studio"), std::string::npos) << text;
    EXPECT_NE(text.find("CC BY 4.0"), std::string::npos) << text;
  }
  EXPECT_TRUE(good({"version"}).starts_with("alate 0.1.0\n"));
}

TEST(CliVersion, TellsTheBuildAsJson) {
  const auto facts = formats::parse_json(good({"version", "--output", "json"}), "version");
  EXPECT_EQ(facts.get_string("version", ""), "0.1.0");
  EXPECT_NE(facts.get_string("compiler", ""), "");
  bool has_chosen = false;
  for (const auto& set : facts.find("instruction_sets")->as_array("instruction_sets"))
    has_chosen = has_chosen || set.as_string("set") == facts.get_string("instruction_set", "");
  EXPECT_TRUE(has_chosen);
  EXPECT_EQ(
      formats::parse_json(good({"version", "--output", "json"}, {.environment = {{"ALATE_ISA", "scalar"}}}), "version")
          .get_string("instruction_set", ""),
      "scalar");
}

TEST(CliOptions, EnvironmentCountsWhereTheOptionIsNotGiven) {
  const std::vector<std::string> embed = {"embed", mean_model(), "the cat", "fox"};
  const std::string csv = good({"embed", mean_model(), "the cat", "fox", "--output", "csv"});
  EXPECT_EQ(good(embed, {.environment = {{"ALATE_OUTPUT", "csv"}}}), csv);
  std::vector<std::string> text = embed;
  text.insert(text.end(), {"--output", "text"});
  EXPECT_EQ(good(text, {.environment = {{"ALATE_OUTPUT", "csv"}}}), good(embed));
  EXPECT_EQ(good(embed, {.environment = {{"ALATE_DIMENSIONS", "3"}}}),
            good({"embed", mean_model(), "the cat", "fox", "--dimensions", "3"}));
  EXPECT_EQ(good(embed, {.environment = {{"ALATE_NORMALIZE", "1"}}}),
            good({"embed", mean_model(), "the cat", "fox", "--normalize"}));
  EXPECT_EQ(run_program(embed, {.environment = {{"ALATE_THREADS", "many"}}}).exit_code, 2);
}

TEST(CliOptions, ModelsAreFoundByName) {
  const TemporaryFolder folder;
  const auto models = folder.path() / "models";
  std::filesystem::create_directories(models / "someone");
  std::filesystem::copy(tiny_model("st_mean"), models / "someone" / "mean", std::filesystem::copy_options::recursive);
  const std::string wanted = good({"embed", mean_model(), "cat"});
  EXPECT_EQ(good({"embed", "someone/mean", "cat", "--models-dir", models.string()}), wanted);
  EXPECT_EQ(good({"embed", "mean", "cat"}, {.environment = {{"ALATE_MODELS_DIR", models.string()}}}), wanted);
  EXPECT_EQ(good({"embed", "mean", "cat"}, {.environment = {{"ALATE_HOME", folder.path().string()}}}), wanted);
}

TEST(CliOptions, PathsNeedNoHomeFolder) {
  const ProgramSetting homeless = {.environment = {{"HOME", ""}, {"XDG_CACHE_HOME", ""}}};
  EXPECT_EQ(good({"embed", mean_model(), "cat"}, homeless), good({"embed", mean_model(), "cat"}));
  const ProgramRun by_name = run_program({"embed", "a-name", "cat"}, homeless);
  EXPECT_EQ(by_name.exit_code, 4);
  EXPECT_NE(by_name.error.find("ALATE_HOME"), std::string::npos) << by_name.error;
}

TEST(CliOptions, BackendsAreTakenInOrder) {
  const std::vector<std::string> embed = {"embed", mean_model(), "cat"};
  const std::string wanted = good(embed);
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), embed.begin(), embed.end());
    return more;
  };
  EXPECT_EQ(good(with({"--backend", "auto"})), wanted);
  EXPECT_EQ(good(with({"--backend", "go"})), wanted);
  EXPECT_EQ(good(with({"--backend", "cpu:0"})), wanted);
  const ProgramRun fallback = run_program(with({"--backend", "cuda", "--backend", "cpu"}));
  EXPECT_EQ(fallback.out, wanted);
  EXPECT_NE(fallback.error.find("cuda"), std::string::npos);
  const ProgramRun quiet = run_program(with({"--backend", "cuda,cpu", "--policy", "allow"}));
  EXPECT_EQ(quiet.out, wanted);
  EXPECT_EQ(quiet.error, "");
  EXPECT_EQ(lines_of(good(with({"--backend", "reference"}))).size(), 1u);
}

TEST(CliOptions, AutomaticTypeIsReported) {
  // Which one it is depends on the machine; it is what the same type gives by its name.
  const ProgramRun run = run_program({"embed", mean_model(), "cat", "--dtype", "auto"});
  EXPECT_EQ(lines_of(run.error).size(), 1u) << run.error;
  const std::string start = "is computed in ";
  const std::size_t at = run.error.find(start);
  ASSERT_NE(at, std::string::npos) << run.error;
  const std::size_t name = at + start.size(), end = run.error.find(": ", name);
  ASSERT_NE(end, std::string::npos) << run.error;
  const std::string dtype = run.error.substr(name, end - name);
  EXPECT_EQ(run.out, good({"embed", mean_model(), "cat", "--dtype", dtype})) << run.error;
}

TEST(CliOptions, TextsMayLookLikeOptionsAfterTwoDashes) {
  EXPECT_EQ(good({"embed", mean_model(), "--", "--quiet", "--"}),
            good({"embed", mean_model()}, {.input = "--quiet\n--\n"}));
}

TEST(CliOptions, OutReplacesFilesThroughLinks) {
  const TemporaryFolder folder;
  const auto file = folder.write("real.txt", "old");
  const auto link = folder.path() / "link.txt";
  std::filesystem::create_symlink(file, link);
  good({"embed", mean_model(), "cat", "--out", link.string()});
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(base::read_text_file(file), good({"embed", mean_model(), "cat"}));
  good({"embed", mean_model(), "cat", "--out", "/dev/null"});
  EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null"));
}

TEST(CliBench, ReportsRunsAndTokens) {
  const TemporaryFolder folder;
  const std::string lengths = folder.write("lengths.txt", "3\n5\n\n12\n").string();
  const auto report = formats::parse_json(
      good({"bench", mean_model(), "--lengths", lengths, "--repeat", "3", "--threads", "1", "--output", "json"}),
      "bench");
  EXPECT_EQ(report.get_int("tokens", 0), 20);
  EXPECT_EQ(report.find("runs")->as_array("runs").size(), 3u);
  EXPECT_EQ(report.get_string("backend", ""), "cpu");
  EXPECT_EQ(report.get_string("dtype", ""), "float32");
  EXPECT_EQ(report.get_int("threads", 0), 1);
  EXPECT_GT(report.get_double("tokens_per_second", 0), 0);
  EXPECT_NE(good({"bench", mean_model(), "--lengths", "4x8,16", "--repeat", "1"}).find("5 texts, 48 tokens"),
            std::string::npos);
  for (const std::string bad : {"0", ",", "3,,4", "100000"})
    EXPECT_EQ(run_program({"bench", mean_model(), "--lengths", bad}).exit_code, 2) << bad;
}

TEST(CliDemo, ShowsHowAlikeSentencesAre) {
  const std::string command = "cd / && exec '" + program_path() + "' demo '" + mean_model() + "'";
  const std::string shown = good({"-c", command}, {.program = "/bin/sh"});
  EXPECT_NE(shown.find("1.00"), std::string::npos);
  EXPECT_NE(shown.find("\n  alate embed "), std::string::npos);
}

TEST(CliDemo, SuggestsTheScriptWhereItIsHowTheProgramWasStarted) {
  if (!std::filesystem::exists(std::filesystem::path(program_path()).parent_path() / "../../../run"))
    GTEST_SKIP() << "the program is not in a build folder of the sources";
  const std::string command =
      "cd '" + source_folder().string() + "' && exec '" + program_path() + "' demo '" + mean_model() + "'";
  EXPECT_NE(good({"-c", command}, {.program = "/bin/sh"}).find("\n  ./run embed "), std::string::npos);
}

}  // namespace
}  // namespace alate::tests
