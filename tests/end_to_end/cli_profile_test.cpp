// --profile, and the output of alate bench.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "program.h"
#include "tests/unit/base/temporary_folder.h"
#include "tiny_models.h"

namespace alate::tests {
namespace {

using base::TemporaryFolder;

std::string mean_model() { return tiny_model("st_mean").string(); }

ProgramRun good(const std::vector<std::string>& arguments) {
  ProgramRun run = run_program(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  return run;
}

// What every profile of an encoder says.
void expect_profile(const formats::Json& profile, std::int64_t runs) {
  EXPECT_EQ(profile.get_int("runs", 0), runs);
  const double seconds = profile.get_double("seconds", 0), outside = profile.get_double("outside_seconds", -1);
  EXPECT_GT(seconds, 0);
  EXPECT_GE(outside, 0);
  double kernels = 0, nodes = 0;
  bool has_products = false;
  for (const auto& row : profile.find("kernels")->as_array("kernels")) {
    kernels += row.get_double("seconds", 0);
    has_products = has_products || (row.get_string("kernel", "") == "gemm" && row.get_double("share_of_peak", 0) > 0 &&
                                    row.get_double("bytes", 0) > 0);
  }
  for (const auto& row : profile.find("nodes")->as_array("nodes")) nodes += row.get_double("seconds", 0);
  EXPECT_TRUE(has_products) << formats::to_json_text(profile);
  EXPECT_NEAR(kernels + outside, seconds, 1e-6 * seconds);
  EXPECT_NEAR(nodes, kernels, 1e-6 * seconds);
  EXPECT_GT(profile.get_double("share_of_peak", 0), 0);
  EXPECT_EQ(profile.find("peaks")->as_array("peaks").size(), 4U);
}

void expect_tables(const std::string& text) {
  for (const char* part : {"of peak", "gemm", "outside kernels", "in all", "layer.*", "reading memory"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

TEST(CliProfile, EmbedShowsItBesideTheSameVectors) {
  const std::vector<std::string> embed = {"embed", mean_model(), "the cat", "fox"};
  const ProgramRun plain = good(embed);
  EXPECT_EQ(plain.error, "");
  std::vector<std::string> profiled = embed;
  profiled.emplace_back("--profile");
  const ProgramRun tables = good(profiled);
  EXPECT_EQ(tables.out, plain.out);
  expect_tables(tables.error);
  profiled.insert(profiled.end(), {"--output", "json"});
  const ProgramRun json = good(profiled);
  EXPECT_EQ(json.error, "");
  const formats::Json body = formats::parse_json(json.out, "embed");
  EXPECT_EQ(body.find("embeddings")->as_array("embeddings").size(), 2U);
  expect_profile(*body.find("profile"), 1);
}

TEST(CliProfile, ForwardHasIt) {
  const TemporaryFolder folder;
  const auto inputs = folder.path() / "in.safetensors";
  const std::vector<formats::NamedTensor> ids = {{"input_ids", Tensor::from<std::int64_t>({1, 3}, {1, 2, 3})}};
  formats::write_tensors(inputs, ids);
  std::vector<std::string> forward = {"forward",   tiny_model("odd_sizes").string(),
                                      "--inputs",  inputs.string(),
                                      "--outputs", (folder.path() / "out.safetensors").string(),
                                      "--profile", "--quiet"};
  const ProgramRun tables = good(forward);
  EXPECT_EQ(tables.out, "");
  expect_tables(tables.error);
  forward.insert(forward.end(), {"--output", "json"});
  expect_profile(*formats::parse_json(good(forward).out, "forward").find("profile"), 1);
}

TEST(CliProfile, IsOfTheCpuBackendAlone) {
  const ProgramRun run = run_program({"embed", mean_model(), "cat", "--profile", "--backend", "reference"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(run.error.ends_with("reference\n")) << run.error;
}

TEST(CliBench, SaysTheSameInEveryForm) {
  const std::vector<std::string> bench = {"bench",    mean_model(), "--lengths", "4x8,16",
                                          "--repeat", "3",          "--threads", "1"};
  const auto as = [&](const std::string& format) {
    std::vector<std::string> arguments = bench;
    arguments.insert(arguments.end(), {"--output", format});
    return good(arguments).out;
  };
  const formats::Json json = formats::parse_json(as("json"), "bench");
  EXPECT_EQ(json.find("profile"), nullptr);
  std::vector<double> runs;
  for (const auto& run : json.find("runs")->as_array("runs")) runs.push_back(run.as_double("run"));
  ASSERT_EQ(runs.size(), 3U);
  const double mean = (runs[0] + runs[1] + runs[2]) / 3;
  double squares = 0;
  for (const double run : runs) squares += (run - mean) * (run - mean);
  std::ranges::sort(runs);
  EXPECT_DOUBLE_EQ(json.get_double("tokens_per_second", 0), 48 / runs[1]);
  EXPECT_DOUBLE_EQ(json.get_double("median_seconds", 0), runs[1]);
  EXPECT_DOUBLE_EQ(json.get_double("min_seconds", 0), runs[0]);
  EXPECT_DOUBLE_EQ(json.get_double("max_seconds", 0), runs[2]);
  EXPECT_NEAR(json.get_double("mean_seconds", 0), mean, 1e-12);
  EXPECT_NEAR(json.get_double("deviation_seconds", 0), std::sqrt(squares / 2), 1e-12);

  const std::string table = as("text");
  for (const char* part : {"tokens/s on cpu, float32, 1 thread\n", "5 texts, 48 tokens", "mean ±", "median", "\nms "})
    EXPECT_NE(table.find(part), std::string::npos) << part << " is not in\n" << table;
  EXPECT_EQ(lines_of(as("table")).size(), lines_of(table).size());
  const auto csv = lines_of(as("csv"));
  ASSERT_EQ(csv.size(), 2U);
  EXPECT_EQ(std::ranges::count(csv[0], ','), std::ranges::count(csv[1], ','));
  EXPECT_TRUE(csv[1].starts_with(mean_model() + ",5,48,cpu,float32,1,3,")) << csv[1];
  const auto markdown = lines_of(as("markdown"));
  ASSERT_EQ(markdown.size(), 3U);
  for (const std::string& line : markdown)
    EXPECT_EQ(std::ranges::count(line, '|'), std::ranges::count(markdown[0], '|')) << line;
  EXPECT_NE(markdown[2].find(" ± "), std::string::npos);
}

TEST(CliBench, OneRunHasNoDeviation) {
  const ProgramRun run = good({"bench", mean_model(), "--lengths", "8", "--repeat", "1", "--output", "json"});
  EXPECT_EQ(formats::parse_json(run.out, "bench").get_double("deviation_seconds", -1), 0);
}

TEST(CliBench, ProfilesTheRunsThatItTimes) {
  const std::vector<std::string> bench = {"bench", mean_model(), "--lengths", "8", "--repeat", "2", "--profile"};
  const ProgramRun tables = good(bench);
  EXPECT_EQ(lines_of(tables.out).size(), 5U) << tables.out;
  expect_tables(tables.error);
  EXPECT_NE(tables.error.find("mean of 2 runs"), std::string::npos) << tables.error;
  std::vector<std::string> as_json = bench;
  as_json.insert(as_json.end(), {"--output", "json"});
  const formats::Json json = formats::parse_json(good(as_json).out, "bench");
  expect_profile(*json.find("profile"), 2);
  double seconds = 0;
  for (const auto& run : json.find("runs")->as_array("runs")) seconds += run.as_double("run");
  EXPECT_DOUBLE_EQ(json.find("profile")->get_double("seconds", 0), seconds);
}

}  // namespace
}  // namespace alate::tests
