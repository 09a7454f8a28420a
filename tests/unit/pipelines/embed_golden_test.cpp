// EmbeddingPipeline against sentence-transformers, on the folders that tests/golden/record_embeddings.py made.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "alate/embedding.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "formats/tensor_file.h"
#include "tests/source_folder.h"

namespace alate {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = source_folder() / "tests/golden/models";

struct Call {
  std::vector<std::string> texts;
  EmbedOptions options;
  std::vector<std::size_t> truncated;
  Tensor embeddings;
};

Call read_call(fs::path json_file) {
  const formats::Json json = formats::parse_json(base::read_text_file(json_file), json_file.string());
  Call call;
  for (const formats::Json& text : json.find("texts")->as_array("texts")) call.texts.push_back(text.as_string("text"));
  call.options.prompt_name = json.get_string("prompt_name", "");
  for (const formats::Json& index : json.find("truncated")->as_array("truncated"))
    call.truncated.push_back(static_cast<std::size_t>(index.as_int("index")));
  for (formats::NamedTensor& named : formats::read_tensors(json_file.replace_extension(".safetensors"))) {
    if (named.name == "embeddings") call.embeddings = std::move(named.tensor);
  }
  return call;
}

void expect_equal_embeddings(const Tensor& found, const Tensor& wanted, const std::string& what) {
  ASSERT_EQ(to_string(found.shape()), to_string(wanted.shape())) << what;
  const auto width = static_cast<std::size_t>(wanted.extent(1));
  float largest = 0;
  for (const float value : wanted.values<float>()) largest = std::max(largest, std::abs(value));
  for (std::size_t row = 0; row < static_cast<std::size_t>(wanted.extent(0)); ++row) {
    double dot = 0, a = 0, b = 0;
    for (std::size_t i = row * width; i < (row + 1) * width; ++i) {
      const double x = found.values<float>()[i], y = wanted.values<float>()[i];
      EXPECT_NEAR(x, y, 1e-5 * largest) << what << " row " << row << " column " << i - row * width;
      dot += x * y;
      a += x * x;
      b += y * y;
    }
    EXPECT_GE(dot / std::sqrt(a * b), 0.999999) << what << " row " << row;
  }
}

std::vector<fs::path> calls_of(const fs::path& folder) {
  std::vector<fs::path> calls;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("embed_") && name.ends_with(".json")) calls.push_back(entry.path());
  }
  std::sort(calls.begin(), calls.end());
  return calls;
}

std::vector<std::string> embedding_models() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(kModels)) {
    if (entry.is_directory() && !calls_of(entry.path()).empty()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class EmbedGolden : public testing::TestWithParam<std::string> {};

TEST_P(EmbedGolden, EqualsSentenceTransformers) {
  for (const char* backend : {"cpu", "reference"}) {
    const EmbeddingPipeline pipeline = EmbeddingPipeline::load(
        kModels / GetParam(), {.load = {.backend = {.places = {BackendPlace::parse(backend)}}}});
    for (const fs::path& file : calls_of(kModels / GetParam())) {
      const Call call = read_call(file);
      const Embeddings found = pipeline.embed(call.texts, call.options);
      expect_equal_embeddings(found.vectors, call.embeddings, file.string() + " on " + backend);
      EXPECT_EQ(found.truncated, call.truncated) << file;
    }
  }
}

TEST_P(EmbedGolden, GivesTheSameBitsInEveryBatch) {
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(kModels / GetParam());
  const Call call = read_call(calls_of(kModels / GetParam()).front());
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

INSTANTIATE_TEST_SUITE_P(Folders, EmbedGolden, testing::ValuesIn(embedding_models()),
                         [](const auto& folder) { return folder.param; });

}  // namespace
}  // namespace alate
