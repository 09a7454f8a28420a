// Chains of modules against sentence-transformers, on the folders that tests/golden/record_modules.py made.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "alate/embedding.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "graph/builder.h"
#include "graph/interpreter.h"
#include "pipelines/modules/torch_activations.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/source_folder.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/pipelines/embedding_calls.h"

namespace alate {
namespace {

namespace fs = std::filesystem;

class ModuleChains : public testing::TestWithParam<std::string> {
 protected:
  ModuleChains() { tests::write_tiny_model(tests::golden_folder("modules/" + GetParam()), folder_.path() / "model"); }

  base::TemporaryFolder folder_;
};

TEST_P(ModuleChains, EqualSentenceTransformers) {
  for (const char* backend : {"cpu", "reference"}) {
    // sentence-transformers makes vectors of any model.
    const EmbeddingPipeline pipeline = EmbeddingPipeline::load(
        folder_.path() / "model", {.load = {.backend = {.places = {BackendPlace::parse(backend)}}}, .force = true});
    for (const fs::path& file : tests::calls_of(tests::golden_folder("modules/" + GetParam()))) {
      const tests::EmbeddingCall call = tests::read_call(file);
      const Embeddings found = pipeline.embed(call.texts, call.options);
      tests::expect_equal_embeddings(found.vectors, call.embeddings, file.string() + " on " + backend);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, ModuleChains, testing::ValuesIn(tests::golden_names("modules")),
                         [](const auto& folder) { return folder.param; });

std::vector<float> row_values(const formats::Json& rows) {
  std::vector<float> values;
  for (const formats::Json& row : rows.as_array("rows")) {
    for (const formats::Json& value : row.as_array("row"))
      values.push_back(static_cast<float>(value.as_double("value")));
  }
  return values;
}

TEST(TorchActivations, EqualTorchsClasses) {
  const formats::Json golden = formats::parse_json(
      base::read_text_file(source_folder() / "tests/golden/modules/activations.json"), "activations");
  const std::vector<float> x = row_values(*golden.find("x"));
  const auto rows = static_cast<std::int64_t>(golden.find("x")->as_array("x").size());
  const std::int64_t width = static_cast<std::int64_t>(x.size()) / rows;
  for (const auto& [name, answer] : golden.find("y")->as_object("y")) {
    ASSERT_TRUE(pipelines::is_torch_activation(name)) << name;
    graph::Builder b("activation");
    b.output("y", pipelines::torch_activation(b, name, b.parameter("x", {DType::f32, {rows, width}})));
    const std::vector<Tensor> inputs = {Tensor::from<float>({rows, width}, x)};
    const Tensor y = graph::interpret(b.finish(), inputs, base::Cancellation::never()).front();
    const std::vector<float> wanted = row_values(answer);
    ASSERT_EQ(y.values<float>().size(), wanted.size()) << name;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_NEAR(y.values<float>()[i], wanted[i], 1e-5 * std::max(1.0f, std::abs(wanted[i]))) << name << " of " << i;
  }
}

}  // namespace
}  // namespace alate
