// Model::forward of every architecture on the runtimes that are installed here, against transformers, as
// tests/golden/record_architectures.py recorded it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "alate/backend_choice.h"
#include "alate/model.h"
#include "backends/backend.h"
#include "backends/registry.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/runtime/forward_cases.h"

namespace alate {
namespace {

namespace fs = std::filesystem;

// XLA compiles a program for each shape, which takes a second or more: there one case is run, of models without a head,
// and of all others where ALATE_TEST_ALL is set.
bool is_run(const std::string& backend, const std::string& recorded) {
  return backend == "onnx" || recorded.ends_with("_base") || std::getenv("ALATE_TEST_ALL") != nullptr;
}
std::vector<fs::path> cases_of(const std::string& backend, const std::string& recorded) {
  std::vector<fs::path> cases = tests::sorted_entries(tests::golden_folder("architectures/" + recorded), "case_");
  const auto mixed = std::ranges::find(cases, "case_mixed_lengths.safetensors",
                                       [](const fs::path& file) { return file.filename().string(); });
  return backend == "xla" && mixed != cases.end() ? std::vector{*mixed} : cases;
}
std::vector<std::pair<std::string, std::string>> runs() {
  std::vector<std::pair<std::string, std::string>> runs;
  for (const std::string backend : {"onnx", "xla"}) {
    for (const std::string& recorded : tests::golden_names("architectures")) {
      if (is_run(backend, recorded)) runs.emplace_back(backend, recorded);
    }
  }
  return runs;
}

class ArchitectureOnRuntime : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(ArchitectureOnRuntime, EqualsTransformers) {
  const auto& [backend, recorded] = GetParam();
  if (backends::get_backend(backend).libraries().found.empty()) GTEST_SKIP() << backend << " is not installed here";
  const base::TemporaryFolder folder;
  // A library that is here and does not work is a failure.
  tests::write_tiny_model(tests::golden_folder("architectures/" + recorded), folder.path() / "model");
  const Model model = Model::load(folder.path() / "model",
                                  {.backend = {.places = {BackendPlace(backend)}, .policy = BackendPolicy::strict}});
  EXPECT_EQ(model.facts().backend, backend);
  for (const fs::path& file : cases_of(backend, recorded)) tests::expect_case(model, file);
}

INSTANTIATE_TEST_SUITE_P(Folders, ArchitectureOnRuntime, testing::ValuesIn(runs()),
                         [](const auto& run) { return run.param.first + "_" + run.param.second; });

}  // namespace
}  // namespace alate
