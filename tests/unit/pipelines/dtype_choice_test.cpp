// dtype auto, and an invariant of every dtype: a text gives the same bits alone, in a batch and on any number of
// threads.
#include "pipelines/embed/dtype_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "formats/tensor_file.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/source_folder.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::pipelines {
namespace {

namespace fs = std::filesystem;

const fs::path kModel = source_folder() / "tests/golden/models/st_mean";
constexpr backends::ProductRates kFastBf16{.f32 = 1, .bf16 = 2, .integers = 1};

std::vector<std::string> names(const backends::ProductRates& rates) {
  std::vector<std::string> found;
  for (const DTypeCandidate& candidate : faster_dtypes(rates)) found.emplace_back(to_string(candidate.type));
  return found;
}

TEST(DTypeChoice, TriesWhatIsClearlyFasterTheFastestFirst) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({.f32 = 100, .bf16 = 195, .integers = 390}), (Names{"int8", "bfloat16"}));
  EXPECT_EQ(names({.f32 = 100, .bf16 = 900, .integers = 390}), (Names{"bfloat16", "int8"}));
  EXPECT_EQ(names({.f32 = 100, .bf16 = 50, .integers = 380}), Names{"int8"});
  EXPECT_EQ(names({.f32 = 100, .bf16 = 108, .integers = 95}), Names{});
}

TEST(DTypeChoice, MeasuresTheMeanCosineOfRows) {
  const Tensor a = Tensor::from<float>({3, 2}, {1, 0, 0, 2, 0, 0}), b = Tensor::from<float>({3, 2}, {5, 0, 3, 3, 0, 0});
  EXPECT_NEAR(mean_cosine(a, b), (1 + std::sqrt(0.5) + 1) / 3, 1e-12);
  const Tensor none = Tensor::from<float>({1, 2}, {std::nanf(""), 1});
  EXPECT_TRUE(std::isnan(mean_cosine(none, none)));
}

TEST(DTypeChoice, TakesAFasterTypeThatStaysNearAndSaysWhy) {
  runtime::LoadWatch unwatched;
  const EmbeddingPipeline chosen = load_fastest(kModel, {}, unwatched, kFastBf16);
  EXPECT_EQ(chosen.facts().dtype, "bfloat16");
  EXPECT_NE(chosen.facts().dtype_reason.find("2.0 times as fast as float32's, and its mean cosine to float32 is "),
            std::string::npos)
      << chosen.facts().dtype_reason;
  const EmbeddingPipeline plain = EmbeddingPipeline::load(kModel, {.load = {.dtype = ComputeType::bfloat16}});
  EXPECT_EQ(plain.facts().dtype_reason, "");
  const std::vector<std::string> texts = {"the cat sat"};
  const Tensor one = chosen.embed(texts).vectors, other = plain.embed(texts).vectors;
  EXPECT_EQ(std::memcmp(one.bytes().data(), other.bytes().data(), one.byte_count()), 0);
}

TEST(DTypeChoice, StaysInFloat32WhereNothingIsFaster) {
  runtime::LoadWatch unwatched;
  const EmbeddingPipeline chosen =
      load_fastest(kModel, {}, unwatched, backends::ProductRates{.f32 = 1, .bf16 = 0.5, .integers = 1.1});
  EXPECT_EQ(chosen.facts().dtype, "float32");
  EXPECT_EQ(chosen.facts().dtype_reason, "no type's products are faster on this machine");
}

TEST(DTypeChoice, StaysInFloat32OnOtherBackends) {
  runtime::LoadWatch unwatched;
  const EmbeddingPipeline chosen = load_fastest(
      kModel, EmbeddingLoadOptions{.load = {.backend = {.places = {BackendPlace::reference()}}}}, unwatched, kFastBf16);
  EXPECT_EQ(chosen.facts().dtype, "float32");
  EXPECT_NE(chosen.facts().dtype_reason.find("not 'reference'"), std::string::npos);
}

// A weight that no integers stand for, and vectors that are nothing.
TEST(DTypeChoice, RefusesTypesWithTheFigureOrTheError) {
  base::TemporaryFolder folder;
  for (const fs::directory_entry& entry : fs::directory_iterator(kModel)) {
    if (entry.path().filename() != "model.safetensors")
      fs::copy(entry.path(), folder.path() / entry.path().filename(), fs::copy_options::recursive);
  }
  std::vector<formats::NamedTensor> tensors = formats::read_tensors(kModel / "model.safetensors");
  for (formats::NamedTensor& named : tensors) {
    if (!named.name.ends_with("layer.0.output.dense.weight")) continue;
    named.tensor = Tensor::uninitialized(named.tensor.shape());
    std::ranges::fill(named.tensor.mutable_values<float>(), std::numeric_limits<float>::infinity());
  }
  formats::write_tensors(folder.path() / "model.safetensors", tensors);
  runtime::LoadWatch unwatched;
  const EmbeddingPipeline chosen =
      load_fastest(folder.path(), {}, unwatched, backends::ProductRates{.f32 = 1, .bf16 = 2, .integers = 4});
  EXPECT_EQ(chosen.facts().dtype, "float32");
  const std::string& reason = chosen.facts().dtype_reason;
  EXPECT_NE(reason.find("int8 is faster, but weight '"), std::string::npos) << reason;
  EXPECT_NE(reason.find("not finite"), std::string::npos) << reason;
  EXPECT_NE(reason.find("bfloat16 is faster, but its mean cosine to float32 is "), std::string::npos) << reason;
}

TEST(DTypeChoice, ComparesTheVectorsOfEachTransformer) {
  base::TemporaryFolder folder;
  tests::write_tiny_model(tests::golden_folder("modules/router_of_transformers"), folder.path());
  runtime::LoadWatch unwatched;
  EXPECT_EQ(load_fastest(folder.path(), {}, unwatched, kFastBf16).facts().dtype, "bfloat16");
  // That of queries gives nothing, and texts without a task go through another.
  const fs::path weights = folder.path() / "query_0_Transformer/model.safetensors";
  std::vector<formats::NamedTensor> tensors = formats::read_tensors(weights);
  for (formats::NamedTensor& named : tensors) {
    if (!named.name.ends_with("layer.0.output.dense.weight")) continue;
    named.tensor = Tensor::uninitialized(named.tensor.shape());
    std::ranges::fill(named.tensor.mutable_values<float>(), std::numeric_limits<float>::infinity());
  }
  fs::remove(weights);
  formats::write_tensors(weights, tensors);
  EXPECT_EQ(load_fastest(folder.path(), {}, unwatched, kFastBf16).facts().dtype, "float32");
}

TEST(DTypes, GiveATextTheSameBitsAloneInABatchAndOnAnyNumberOfThreads) {
  const std::span<const std::string> texts = choice_texts();
  for (const ComputeType dtype :
       {ComputeType::float32, ComputeType::bfloat16, ComputeType::float16, ComputeType::int8}) {
    const EmbeddingPipeline one = EmbeddingPipeline::load(kModel, {.load = {.threads = 1, .dtype = dtype}});
    const EmbeddingPipeline two = EmbeddingPipeline::load(kModel, {.load = {.threads = 2, .dtype = dtype}});
    EXPECT_EQ(one.facts().dtype, to_string(dtype));
    const Tensor all = one.embed(texts).vectors, on_two = two.embed(texts).vectors;
    ASSERT_EQ(std::memcmp(all.bytes().data(), on_two.bytes().data(), all.byte_count()), 0) << to_string(dtype);
    const std::size_t row_bytes = all.byte_count() / texts.size();
    for (std::size_t i = 0; i < texts.size(); i += 5) {
      const Tensor alone = two.embed(texts.subspan(i, 1)).vectors;
      EXPECT_EQ(std::memcmp(alone.bytes().data(), all.bytes().data() + i * row_bytes, row_bytes), 0)
          << to_string(dtype) << ", text " << i;
    }
  }
}

}  // namespace
}  // namespace alate::pipelines
