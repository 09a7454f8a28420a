// EmbeddingPipeline against sentence-transformers, on the folders that tests/golden/record_embeddings.py made.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "alate/embedding.h"
#include "tests/source_folder.h"
#include "tests/unit/pipelines/embedding_calls.h"

namespace alate {
namespace {

namespace fs = std::filesystem;
using tests::calls_of;
using tests::EmbeddingCall;
using tests::read_call;

const fs::path kModels = source_folder() / "tests/golden/models";

class EmbedGolden : public testing::TestWithParam<std::string> {};

TEST_P(EmbedGolden, EqualsSentenceTransformers) {
  for (const char* backend : {"cpu", "reference"}) {
    const EmbeddingPipeline pipeline = EmbeddingPipeline::load(
        kModels / GetParam(), {.load = {.backend = {.places = {BackendPlace::parse(backend)}}}});
    for (const fs::path& file : calls_of(kModels / GetParam())) {
      const EmbeddingCall call = read_call(file);
      const Embeddings found = pipeline.embed(call.texts, call.options);
      tests::expect_equal_embeddings(found.vectors, call.embeddings, file.string() + " on " + backend);
      EXPECT_EQ(found.truncated, call.truncated) << file;
    }
  }
}

TEST_P(EmbedGolden, GivesTheSameBitsInEveryBatch) {
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(kModels / GetParam());
  const EmbeddingCall call = read_call(calls_of(kModels / GetParam()).front());
  const Tensor together = pipeline.embed(call.texts, call.options).vectors;
  const auto width = static_cast<std::size_t>(together.extent(1));
  for (const std::size_t batch_size : {1u, 3u}) {
    EmbedOptions options = call.options;
    options.batch_size = batch_size;
    const Tensor apart = pipeline.embed(call.texts, options).vectors;
    for (std::size_t i = 0; i < call.texts.size() * width; ++i)
      ASSERT_EQ(apart.values<float>()[i], together.values<float>()[i])
          << "batch size " << batch_size << ", element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, EmbedGolden, testing::ValuesIn(tests::folders_with_calls(kModels)),
                         [](const auto& folder) { return folder.param; });

}  // namespace
}  // namespace alate
