// Model::forward against transformers, on the folders that tests/golden/record_models.py made.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "alate/model.h"
#include "formats/tensor_file.h"
#include "tests/source_folder.h"

namespace alate {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = source_folder() / "tests/golden/models";

bool is_output(const std::string& name) {
  return name == "last_hidden_state" || name == "pooler_output" || name == "logits";
}

void expect_close(const Tensor& found, const Tensor& wanted, const std::string& what) {
  ASSERT_EQ(to_string(found.shape()), to_string(wanted.shape())) << what;
  float largest = 0, difference = 0;
  for (std::size_t i = 0; i < wanted.values<float>().size(); ++i) {
    largest = std::max(largest, std::abs(wanted.values<float>()[i]));
    const float apart = std::abs(found.values<float>()[i] - wanted.values<float>()[i]);
    difference = std::isnan(apart) ? INFINITY : std::max(difference, apart);
  }
  EXPECT_LE(difference, 1e-5f * largest) << what;
}

void expect_case(const Model& model, const fs::path& file) {
  NamedTensors inputs, wanted;
  for (formats::NamedTensor& named : formats::read_tensors(file))
    (is_output(named.name) ? wanted : inputs).emplace(named.name, std::move(named.tensor));
  const NamedTensors found = model.forward(inputs);
  ASSERT_EQ(found.size(), wanted.size()) << file;
  for (const auto& [name, tensor] : wanted) {
    ASSERT_TRUE(found.contains(name)) << file << " " << name;
    expect_close(found.find(name)->second, tensor, file.string() + " " + name);
  }
}

std::vector<fs::path> sorted_entries(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> forward_models() {
  std::vector<std::string> names;
  for (const fs::path& folder : sorted_entries(kModels, "")) {
    if (fs::is_directory(folder) && !sorted_entries(folder, "case_").empty())
      names.push_back(folder.filename().string());
  }
  return names;
}

class ForwardGolden : public testing::TestWithParam<std::string> {};

TEST_P(ForwardGolden, EqualsTransformersOnTheCpuBackend) {
  const Model model = Model::load(kModels / GetParam());
  for (const fs::path& file : sorted_entries(kModels / GetParam(), "case_")) expect_case(model, file);
}

TEST_P(ForwardGolden, EqualsTransformersOnTheReferenceBackend) {
  const Model model = Model::load(kModels / GetParam(), {.backends = {"reference"}});
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
