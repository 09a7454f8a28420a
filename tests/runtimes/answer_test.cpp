// Question answering on the runtimes that are installed here, against transformers, as tests/golden/record_answer.py
// recorded it.
#include <gtest/gtest.h>

#include <string>

#include "alate/answer.h"
#include "alate/backend_choice.h"
#include "backends/backend.h"
#include "backends/registry.h"
#include "tests/golden/tiny_answerers.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/pipelines/expect_answers.h"

namespace alate {
namespace {

class AnswerOnRuntime : public testing::TestWithParam<std::string> {};

TEST_P(AnswerOnRuntime, EqualsTransformers) {
  const std::string& backend = GetParam();
  if (backends::get_backend(backend).libraries().found.empty()) GTEST_SKIP() << backend << " is not installed here";
  const base::TemporaryFolder folder;
  const tests::RecordedAnswerer recorded = tests::write_tiny_answerer(folder.path() / "model");
  const AnswerPipeline pipeline = AnswerPipeline::load(
      folder.path() / "model", {.backend = {.places = {BackendPlace(backend)}, .policy = BackendPolicy::strict}});
  EXPECT_EQ(pipeline.facts().backend, backend);
  tests::expect_answers(pipeline, recorded, recorded.runs[1]);
}

INSTANTIATE_TEST_SUITE_P(Backends, AnswerOnRuntime, testing::Values("onnx", "xla"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace alate
