// Chains of sentence-transformers' modules on the runtimes that are installed here, against sentence-transformers, as
// tests/golden/record_modules.py recorded them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "alate/embedding.h"
#include "backends/backend.h"
#include "backends/registry.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/pipelines/embedding_calls.h"

namespace alate {
namespace {

namespace fs = std::filesystem;

// XLA compiles a program for each shape, which takes a second or more: there Routers are run, and all others where
// ALATE_TEST_ALL is set.
std::vector<std::pair<std::string, std::string>> runs() {
  std::vector<std::pair<std::string, std::string>> runs;
  for (const std::string backend : {"onnx", "xla"}) {
    for (const std::string& recorded : tests::golden_names("modules")) {
      const bool is_router = recorded.starts_with("router") || recorded.starts_with("asym");
      if (backend == "onnx" || is_router || std::getenv("ALATE_TEST_ALL") != nullptr)
        runs.emplace_back(backend, recorded);
    }
  }
  return runs;
}

class ModulesOnRuntime : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(ModulesOnRuntime, EqualSentenceTransformers) {
  const auto& [backend, recorded] = GetParam();
  if (backends::get_backend(backend).libraries().found.empty()) GTEST_SKIP() << backend << " is not installed here";
  const base::TemporaryFolder folder;
  tests::write_tiny_model(tests::golden_folder("modules/" + recorded), folder.path() / "model");
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(
      folder.path() / "model",
      {.load = {.backend = {.places = {BackendPlace(backend)}, .policy = BackendPolicy::strict}},
       .force = true});  // a language model without modules too
  EXPECT_EQ(pipeline.facts().backend, backend);
  for (const fs::path& file : tests::calls_of(tests::golden_folder("modules/" + recorded))) {
    const tests::EmbeddingCall call = tests::read_call(file);
    tests::expect_equal_embeddings(pipeline.embed(call.texts, call.options).vectors, call.embeddings, file.string());
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, ModulesOnRuntime, testing::ValuesIn(runs()),
                         [](const auto& run) { return run.param.first + "_" + run.param.second; });

}  // namespace
}  // namespace alate
