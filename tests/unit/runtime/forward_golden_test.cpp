// Model::forward against transformers, on the folders that tests/golden/record_models.py made.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "alate/model.h"
#include "tests/source_folder.h"
#include "tests/unit/runtime/forward_cases.h"

namespace alate {
namespace {

namespace fs = std::filesystem;
using tests::expect_case;
using tests::sorted_entries;

const fs::path kModels = source_folder() / "tests/golden/models";

std::vector<std::string> forward_models() { return tests::folders_with_cases(kModels); }

class ForwardGolden : public testing::TestWithParam<std::string> {};

TEST_P(ForwardGolden, EqualsTransformersOnTheCpuBackend) {
  const Model model = Model::load(kModels / GetParam());
  for (const fs::path& file : sorted_entries(kModels / GetParam(), "case_")) expect_case(model, file);
}

TEST_P(ForwardGolden, EqualsTransformersOnTheReferenceBackend) {
  const Model model = Model::load(kModels / GetParam(), {.backend = {.places = {BackendPlace::reference()}}});
  const std::vector<fs::path> cases = sorted_entries(kModels / GetParam(), "case_");
  for (const fs::path& file : cases) expect_case(model, file);
}

TEST(DumpGraphs, WritesTheGraphAsItCameAndAfterEachPass) {
  const fs::path folder = fs::path(testing::TempDir()) / "dumped_graphs";
  fs::remove_all(folder);
  const std::string name = forward_models().front();
  const Model model = Model::load(kModels / name, {.dump_graphs = folder});
  expect_case(model, sorted_entries(kModels / name, "case_").front());
  const std::vector<fs::path> files = sorted_entries(folder, "");
  ASSERT_GT(files.size(), 10u);
  EXPECT_EQ(files[0].filename(), "00_input.txt");
  EXPECT_EQ(files[1].filename(), "01_fold_constants.txt");
  for (const fs::path& file : files) EXPECT_GT(fs::file_size(file), 100u) << file;
}

INSTANTIATE_TEST_SUITE_P(Folders, ForwardGolden, testing::ValuesIn(forward_models()),
                         [](const auto& folder) { return folder.param; });

}  // namespace
}  // namespace alate
