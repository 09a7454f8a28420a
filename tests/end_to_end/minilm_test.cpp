// all-MiniLM-L6-v2 itself against sentence-transformers and transformers; ALATE_TEST_MODEL_DIR names its folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "alate/embedding.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "formats/tensor_file.h"
#include "tests/source_folder.h"

namespace alate {
namespace {

namespace fs = std::filesystem;

const fs::path kGoldens = source_folder() / "tests/golden/models";

fs::path model_folder() {
  const char* folder = std::getenv("ALATE_TEST_MODEL_DIR");
  if (folder == nullptr)
    throw std::runtime_error("ALATE_TEST_MODEL_DIR is not set: run ./test, which fetches the model");
  return folder;
}

std::map<std::string, Tensor> read_golden(const char* name) {
  std::map<std::string, Tensor> tensors;
  for (formats::NamedTensor& named : formats::read_tensors(kGoldens / name)) tensors.emplace(named.name, named.tensor);
  return tensors;
}

float largest_of(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

float largest_difference(std::span<const float> a, std::span<const float> b) {
  float difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference = std::max(difference, std::abs(a[i] - b[i]));
  return difference;
}

void expect_close(std::span<const float> found, std::span<const float> wanted, const char* what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  EXPECT_LE(largest_difference(found, wanted), 1e-5f * largest_of(wanted)) << what;
}

struct TextCases {
  std::vector<std::string> texts;
  std::vector<std::size_t> truncated;
};

TextCases read_texts() {
  const formats::Json json = formats::parse_json(base::read_text_file(kGoldens / "minilm.json"), "minilm.json");
  TextCases cases;
  for (const formats::Json& text : json.find("texts")->as_array("texts")) cases.texts.push_back(text.as_string("text"));
  for (const formats::Json& index : json.find("truncated")->as_array("truncated"))
    cases.truncated.push_back(static_cast<std::size_t>(index.as_int("index")));
  return cases;
}

TEST(MiniLm, EmbedsAsSentenceTransformersDoes) {
  const TextCases cases = read_texts();
  const Embeddings found = EmbeddingPipeline::load(model_folder()).embed(cases.texts);
  const Tensor wanted = read_golden("minilm.safetensors").at("embeddings");
  EXPECT_EQ(found.truncated, cases.truncated);
  expect_close(found.vectors.values<float>(), wanted.values<float>(), "embeddings");
  for (std::size_t row = 0; row < cases.texts.size(); ++row) {
    double dot = 0;
    for (std::size_t i = row * 384; i < (row + 1) * 384; ++i)
      dot += double{found.vectors.values<float>()[i]} * double{wanted.values<float>()[i]};
    EXPECT_GE(dot, 0.999999) << "text " << row;
  }
}

TEST(MiniLm, EmbedsAsSentenceTransformersDoesThroughTheReferenceInterpreter) {
  const std::vector<std::string> all = read_texts().texts;
  const std::vector<std::string> texts(all.begin(), all.begin() + 3);
  const Embeddings found =
      EmbeddingPipeline::load(model_folder(), {.load = {.backend = {.places = {BackendPlace::reference()}}}})
          .embed(texts);
  const Tensor wanted = read_golden("minilm.safetensors").at("embeddings");
  expect_close(found.vectors.values<float>(), wanted.values<float>().first(3 * 384), "embeddings");
}

TEST(MiniLm, GivesEachTextTheSameBitsAloneAndAmongOthers) {
  const std::vector<std::string> texts = read_texts().texts;
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(model_folder());
  const Tensor together = pipeline.embed(texts).vectors;
  const EmbeddingPipeline one_thread = EmbeddingPipeline::load(model_folder(), {.load = {.threads = 1}});
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const Tensor alone = one_thread.embed(std::vector{texts[row]}).vectors;
    EXPECT_TRUE(std::equal(alone.values<float>().begin(), alone.values<float>().end(),
                           together.values<float>().begin() + static_cast<std::ptrdiff_t>(row * 384)))
        << "text " << row;
  }
}

TEST(MiniLm, ForwardsShortRowsUnderEveryMaskAsTransformersDoes) {
  const std::map<std::string, Tensor> golden = read_golden("minilm_forward.safetensors");
  NamedTensors inputs;
  for (const char* name : {"input_ids", "attention_mask", "token_type_ids"})
    inputs.emplace(name, golden.at(std::string("short.") + name));
  const NamedTensors found = Model::load(model_folder()).forward(inputs);
  for (const char* name : {"last_hidden_state", "pooler_output"}) {
    expect_close(found.find(name)->second.values<float>(), golden.at(std::string("short.") + name).values<float>(),
                 name);
  }
}

TEST(MiniLm, ForwardsRowsOfOneTo512TokensAsTransformersDoes) {
  const std::map<std::string, Tensor> golden = read_golden("minilm_forward.safetensors");
  const Tensor &ids = golden.at("long.input_ids"), &mask = golden.at("long.attention_mask"),
               &places = golden.at("long.probe_positions"), &probes = golden.at("long.probes");
  const NamedTensors found = Model::load(model_folder()).forward({{"input_ids", ids}, {"attention_mask", mask}});
  const std::span<const float> hidden = found.find("last_hidden_state")->second.values<float>();
  expect_close(found.find("pooler_output")->second.values<float>(), golden.at("long.pooler_output").values<float>(),
               "pooler_output");
  const std::size_t length = 512, width = 384, probe_count = static_cast<std::size_t>(places.extent(1));
  std::vector<float> found_probes;
  std::vector<float> found_roots;
  for (std::size_t row = 0; row < static_cast<std::size_t>(ids.extent(0)); ++row) {
    for (std::size_t i = 0; i < probe_count; ++i) {
      const auto place = static_cast<std::size_t>(places.values<std::int32_t>()[row * probe_count + i]);
      const auto at = hidden.begin() + static_cast<std::ptrdiff_t>((row * length + place) * width);
      found_probes.insert(found_probes.end(), at, at + width);
    }
    for (std::size_t place = 0; place < length; ++place) {
      double squares = 0;
      for (std::size_t i = 0; i < width; ++i) squares += std::pow(hidden[(row * length + place) * width + i], 2);
      found_roots.push_back(static_cast<float>(std::sqrt(squares / static_cast<double>(width))));
    }
  }
  expect_close(found_probes, probes.values<float>(), "probed rows");
  expect_close(found_roots, golden.at("long.rms_over_hidden").values<float>(), "root mean squares of all rows");
}

}  // namespace
}  // namespace alate
