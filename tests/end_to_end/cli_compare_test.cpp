// alate compare: backends against each other on tiny models.
#include <gtest/gtest.h>

#include <string>

#include "program.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

using base::TemporaryFolder;
using formats::Json;

ProgramRun compare(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"compare", tiny_model("st_mean").string(), "--repeat", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments);
}

Json report(std::vector<std::string> more) {
  more.insert(more.end(), {"--output", "json"});
  const ProgramRun run = compare(more);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  return formats::parse_json(run.out, "compare");
}

TEST(CliCompare, SaysHowFarBackendsAreApartAndHowFastTheyAre) {
  const Json found = report({"--backends", "reference,cpu"});
  EXPECT_EQ(found.get_string("model", ""), tiny_model("st_mean").string());
  EXPECT_GE(found.get_int("texts", 0), 5);
  EXPECT_GT(found.get_int("tokens", 0), found.get_int("texts", 0));
  const auto& backends = found.find("backends")->as_array("backends");
  ASSERT_EQ(backends.size(), 2u);
  EXPECT_EQ(backends[0].get_string("backend", ""), "reference");
  EXPECT_EQ(backends[0].get_double("largest_difference", -1), 0);
  EXPECT_EQ(backends[0].get_double("mean_difference", -1), 0);
  EXPECT_EQ(backends[1].get_string("backend", ""), "cpu");
  const double largest = backends[1].get_double("largest_difference", -1);
  const double mean = backends[1].get_double("mean_difference", -1);
  // Different sums, so not the same to the last bit; but near it.
  EXPECT_GT(largest, 0);
  EXPECT_LT(largest, 1e-4);
  EXPECT_GT(mean, 0);
  EXPECT_LT(mean, largest);
  for (const Json& backend : backends) {
    EXPECT_EQ(backend.get_string("dtype", ""), "float32");
    EXPECT_GT(backend.get_double("seconds", 0), 0);
    EXPECT_GT(backend.get_double("tokens_per_second", 0), 0);
  }
}

TEST(CliCompare, ABackendDoesNotDifferFromItself) {
  const Json found = report({"--backends", "cpu", "--backends", "cpu", "cat", "dog"});
  EXPECT_EQ(found.get_int("texts", 0), 2);
  const auto& backends = found.find("backends")->as_array("backends");
  ASSERT_EQ(backends.size(), 2u);
  EXPECT_EQ(backends[1].get_double("largest_difference", -1), 0);
}

TEST(CliCompare, TakesFilesAndTokenIds) {
  const TemporaryFolder folder;
  const std::string file = folder.write("texts.txt", "one\ntwo\nthree\n").string();
  EXPECT_EQ(report({"--backends", "cpu,reference", "--file", file}).get_int("texts", 0), 3);
  const Json rows = report({"--backends", "cpu,reference", "--lengths", "3x4,7"});
  EXPECT_EQ(rows.get_int("texts", 0), 4);
  EXPECT_EQ(rows.get_int("tokens", 0), 19);
}

TEST(CliCompare, IsALineABackendAsText) {
  const ProgramRun run = compare({"--backends", "cpu,reference", "--lengths", "2x5"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const std::vector<std::string> lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].starts_with("2 texts, 10 tokens, ")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("cpu, float32: ")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("reference, float32: ")) << lines[2];
  EXPECT_NE(lines[2].find("; from cpu at most "), std::string::npos) << lines[2];
}

TEST(CliCompare, RefusesWhatCannotBeCompared) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"--backends", "cpu"},
                                                    {"--backends", "cpu,abacus"},
                                                    {"--backends", "cpu,reference", "cat", "--lengths", "4"},
                                                    {"--backends", "cpu,reference", "--lengths", "0"},
                                                    {"--backends", "cpu,reference", "--output", "npy"}}) {
    const ProgramRun run = compare(arguments);
    EXPECT_EQ(run.exit_code, 2) << run.error;
    EXPECT_EQ(run.out, "");
  }
  // One that is not here is not silently another one.
  EXPECT_NE(compare({"--backends", "cpu,cuda"}).exit_code, 0);
}

}  // namespace
}  // namespace alate::tests
