// Selection, doctor's check and the estimate of memory know every architecture that has a recorded case. That the
// estimate's weights are those of the compiled program to the byte is MemoryOfArchitecture's (runtime).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "formats/folder_weights.h"
#include "formats/json.h"
#include "models/encoder.h"
#include "pipelines/check_loadable.h"
#include "pipelines/model_report.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/recorded_greedy.h"
#include "tests/golden/tiny_weights.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::pipelines {
namespace {

namespace fs = std::filesystem;

formats::Json config_in(const std::string& golden) {
  return formats::parse_json(tests::golden_texts(golden).at("config.json"), golden);
}

class ReportOfArchitecture : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { tests::write_tiny_model(tests::golden_folder("architectures/" + GetParam()), model_); }

  base::TemporaryFolder folder_;
  const fs::path model_ = folder_.path() / GetParam();
};

TEST_P(ReportOfArchitecture, HasBackendReasonsAndMemory) {
  // The recorded folders have no tokenizers.
  const ModelReport report = report_on_model(model_, {}, {.has_tokenizer = false});
  ASSERT_FALSE(report.error) << report.error->message();
  EXPECT_EQ(report.summary.architecture, config_in("architectures/" + GetParam()).get_string("model_type", ""));
  EXPECT_FALSE(report.summary.tasks.empty());
  EXPECT_EQ(report.selection.backend, "cpu");
  EXPECT_EQ(report.selection.dtype, "float32");
  EXPECT_FALSE(report.selection.reason.empty());
  for (const ConsideredBackend& each : report.selection.considered) {
    if (each.backend != "cpu" && each.refusal.empty()) {
      EXPECT_TRUE(each.is_automatic) << each.backend;  // a fallback behind it
    }
  }
  ASSERT_TRUE(report.memory);
  EXPECT_EQ(report.memory->backend, "cpu");
  EXPECT_GT(report.memory->activations, 0U);
  EXPECT_GT(report.memory->inputs_and_outputs, 0U);
  const std::uint64_t weights = report.memory->mapped_weights + report.memory->owned_weights;
  const std::uint64_t stored = formats::FolderWeights::open(model_).stored_bytes();
  EXPECT_GT(weights, 0U);
  EXPECT_EQ(report.summary.parameters * sizeof(float), stored);
  // Panels of tiny layers are rounded up, and some weights stand in two layouts.
  EXPECT_LT(weights, 64 * stored + (std::uint64_t{1} << 20));
}

TEST_P(ReportOfArchitecture, IsRefusedByABackendThatIsNotThereWithTheReason) {
  runtime::LoadRequest request;
  request.options.backend = {.places = {BackendPlace::parse("cuda"), BackendPlace::cpu()}};
  const Selection selection = check_loadable(model_, request, false);
  if (selection.backend == "cuda") GTEST_SKIP() << "this machine has CUDA";
  EXPECT_EQ(selection.backend, "cpu");
  const auto refused = std::ranges::find(selection.considered, "cuda", &ConsideredBackend::backend);
  ASSERT_NE(refused, selection.considered.end());
  EXPECT_FALSE(refused->refusal.empty());
}

INSTANTIATE_TEST_SUITE_P(Folders, ReportOfArchitecture, testing::ValuesIn(tests::golden_names("architectures")),
                         [](const auto& folder) { return folder.param; });

// So that a new row of the table without a recorded case is seen.
TEST(Architectures, EachHasARecordedCase) {
  std::set<const models::Architecture*> recorded;
  for (const std::string& name : tests::golden_names("architectures"))
    recorded.insert(&models::find_architecture(config_in("architectures/" + name)));
  recorded.insert(&models::find_architecture(config_in("rerankers/jina_ranking")));
  for (const tests::RecordedGreedy& decoder : tests::recorded_greedy()) {
    if (!decoder.weights.is_null()) recorded.insert(&models::find_architecture(decoder.config));
  }
  std::string missing;
  for (const models::Architecture& each : models::architectures()) {
    if (!recorded.contains(&each)) missing += std::string(each.model_type) + " " + std::string(each.class_name) + "; ";
  }
  EXPECT_EQ(missing, "");
}

}  // namespace
}  // namespace alate::pipelines
