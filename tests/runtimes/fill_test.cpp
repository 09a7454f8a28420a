// Masked language models on the runtimes that are installed here, against transformers, as tests/golden/record_fill.py
// recorded it.
#include <gtest/gtest.h>

#include <string>

#include "alate/backend_choice.h"
#include "alate/fill.h"
#include "backends/backend.h"
#include "backends/registry.h"
#include "tests/golden/tiny_fillers.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/pipelines/expect_fills.h"

namespace alate {
namespace {

class FillOnRuntime : public testing::TestWithParam<std::string> {};

TEST_P(FillOnRuntime, EqualsTransformers) {
  const std::string& backend = GetParam();
  if (backends::get_backend(backend).libraries().found.empty()) GTEST_SKIP() << backend << " is not installed here";
  const base::TemporaryFolder folder;
  const tests::RecordedFiller recorded = tests::write_tiny_filler(folder.path() / "model");
  const FillPipeline pipeline = FillPipeline::load(
      folder.path() / "model", {.backend = {.places = {BackendPlace(backend)}, .policy = BackendPolicy::strict}});
  EXPECT_EQ(pipeline.facts().backend, backend);
  tests::expect_fills(pipeline, recorded, recorded.runs[0]);
}

INSTANTIATE_TEST_SUITE_P(Backends, FillOnRuntime, testing::Values("onnx", "xla"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace alate
