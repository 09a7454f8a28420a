// FillPipeline against transformers, on what tests/golden/record_fill.py recorded, and what is ours.
#include "alate/fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "formats/tensor_file.h"
#include "models/encoder.h"
#include "pipelines/fill/fill_program.h"
#include "pipelines/fill/fill_run.h"
#include "pipelines/tasks/tasks.h"
#include "tests/golden/tiny_fillers.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/pipelines/expect_fills.h"

namespace alate {
namespace {

using base::error_of;
using tests::RecordedFiller;
using tests::RecordedFills;

class FillGolden : public testing::TestWithParam<std::string> {
 protected:
  base::TemporaryFolder folder_;
  const std::filesystem::path model_ = folder_.path() / "model";
  const RecordedFiller recorded_ = tests::write_tiny_filler(model_, GetParam());
};

TEST_P(FillGolden, TokensEqualTransformers) {
  for (const char* backend : {"cpu", "reference"}) {
    SCOPED_TRACE(backend);
    const FillPipeline pipeline =
        FillPipeline::load(folder_.path() / "model", {.backend = {.places = {BackendPlace::parse(backend)}}});
    for (const RecordedFills& run : recorded_.runs) tests::expect_fills(pipeline, recorded_, run);
  }
}

TEST_P(FillGolden, TokensEqualTransformersWhereTheTableHasTheHeadsName) {
  const formats::Json config = formats::parse_json(base::read_text_file(model_ / "config.json"), "config.json");
  const models::TiedWeights tied = models::find_architecture(config).tied.front();
  std::vector<formats::NamedTensor> tensors = formats::read_tensors(model_ / "model.safetensors");
  for (formats::NamedTensor& each : tensors) {
    if (each.name.ends_with(tied.name)) each.name = tied.other;
  }
  formats::write_tensors(model_ / "model.safetensors", tensors);
  if (!config.get_bool("tie_word_embeddings", true)) {  // its tables are two
    EXPECT_EQ(error_of([&] { (void)FillPipeline::load(model_); }).code(), ErrorCode::not_found);
    return;
  }
  const FillPipeline pipeline = FillPipeline::load(model_);
  for (const RecordedFills& run : recorded_.runs) tests::expect_fills(pipeline, recorded_, run);
}

INSTANTIATE_TEST_SUITE_P(Models, FillGolden,
                         testing::Values("tied", "untied", "byte_level", "embedding_size", "distilbert",
                                         "sentence_piece", "modernbert"),
                         [](const auto& model) { return model.param; });

class FillTest : public testing::Test {
 protected:
  base::TemporaryFolder folder_;
  const RecordedFiller recorded_ = tests::write_tiny_filler(folder_.path() / "model");
  const FillPipeline pipeline_ = FillPipeline::load(folder_.path() / "model");
};

TEST_F(FillTest, OfTwoNamesOfTheBiasThatOfTheLayerCounts) {
  const std::filesystem::path file = folder_.path() / "model/model.safetensors";
  std::vector<formats::NamedTensor> tensors = formats::read_tensors(file);
  const auto bias = std::ranges::find(tensors, "cls.predictions.bias", &formats::NamedTensor::name);
  ASSERT_NE(bias, tensors.end());
  const Tensor own = bias->tensor;
  bias->tensor = Tensor::zeros(own.shape());
  tensors.push_back({"cls.predictions.decoder.bias", own});
  formats::write_tensors(file, tensors);
  const FillPipeline pipeline = FillPipeline::load(folder_.path() / "model");
  for (const RecordedFills& run : recorded_.runs) tests::expect_fills(pipeline, recorded_, run);
}

TEST_F(FillTest, ATextWithoutMasksHasAnEmptyList) {
  EXPECT_EQ(pipeline_.mask(), "[MASK]");
  const Fills found = pipeline_.fill({"Ada", "Ada [MASK]", ""});
  ASSERT_EQ(found.texts.size(), 3U);
  EXPECT_TRUE(found.texts[0].empty());
  EXPECT_EQ(found.texts[1].size(), 1U);
  EXPECT_TRUE(found.texts[2].empty());
}

TEST_F(FillTest, BatchesDoNotShowInTheResults) {
  const Fills together = pipeline_.fill(recorded_.texts), alone = pipeline_.fill(recorded_.texts, {.batch_size = 1});
  for (std::size_t i = 0; i < recorded_.texts.size(); ++i) {
    ASSERT_EQ(together.texts[i].size(), alone.texts[i].size());
    for (std::size_t mask = 0; mask < alone.texts[i].size(); ++mask) {
      EXPECT_EQ(together.texts[i][mask].front().id, alone.texts[i][mask].front().id);
      EXPECT_NEAR(together.texts[i][mask].front().score, alone.texts[i][mask].front().score, 1e-6);
    }
  }
}

TEST_F(FillTest, MasksBeyondTheModelsLengthAreCut) {
  std::string text = "[MASK]";
  for (int i = 0; i < 60; ++i) text += " a";
  const Fills found = pipeline_.fill({text + " [MASK]"});
  EXPECT_EQ(found.truncated, std::vector<std::size_t>{0});
  EXPECT_EQ(found.texts[0].size(), 1U);
  FillOptions options;
  options.long_texts.treatment = LongTexts::windows;
  EXPECT_NE(error_of([&] { (void)pipeline_.fill({"a"}, options); }).message().find("not in windows"),
            std::string::npos);
  options.long_texts.treatment = LongTexts::error;
  EXPECT_NE(error_of([&] { (void)pipeline_.fill({text}, options); }).message().find("text 1 has more than the 48"),
            std::string::npos);
}

TEST_F(FillTest, OptionsThatMeanNothingAreRefused) {
  for (const std::size_t top_k : {std::size_t{0}, std::size_t{1001}})
    EXPECT_EQ(error_of([&] { (void)pipeline_.fill({"a"}, {.top_k = top_k}); }).code(), ErrorCode::invalid_argument);
  const Error error = error_of([&] { (void)pipeline_.fill({"a"}, {.targets = {"the", ""}}); });
  EXPECT_NE(error.message().find("the target \"\" is no token"), std::string::npos) << error.message();
}

TEST_F(FillTest, FilledTextsAreBounded) {
  pipelines::FillRun run(pipeline_, {"[MASK] [MASK] a"}, {.top_k = 10});
  run.limit({.answer_bytes = 20 * (15 + 128) - 1});
  EXPECT_NE(error_of([&] { (void)run.prepare(base::Cancellation::never()); }).message().find("more than 2859 bytes"),
            std::string::npos);
  pipelines::FillRun fits(pipeline_, {"[MASK] [MASK] a"}, {.top_k = 10});
  fits.limit({.answer_bytes = 20 * (15 + 128)});
  EXPECT_EQ(fits.prepare(base::Cancellation::never()).rows.size(), 1U);
}

TEST_F(FillTest, AFolderFillsMasksUnlessModulesPoolItsTokens) {
  using pipelines::Task;
  EXPECT_EQ(pipelines::tasks_of(folder_.path() / "model"), (std::vector{Task::embed, Task::fill}));
  folder_.write("model/modules.json", "[]");
  EXPECT_EQ(pipelines::tasks_of(folder_.path() / "model"), std::vector{Task::embed});
}

TEST_F(FillTest, ModelsOfOtherTasksAreRefused) {
  std::string config = base::read_text_file(folder_.path() / "model/config.json");
  const std::string from = "BertForMaskedLM";
  config.replace(config.find(from), from.size(), "BertModel");
  folder_.write("model/config.json", config);
  const Error error = error_of([&] { (void)FillPipeline::load(folder_.path() / "model"); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("BertForMaskedLM"), std::string::npos) << error.message();
}

TEST(BestTokens, AreTheLargestAndOfEqualOnesTheFirst) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto ids = [](const std::vector<float>& scores, std::size_t count) {
    std::vector<std::int32_t> found;
    for (const pipelines::ScoredToken& token : pipelines::best_tokens(scores, count)) found.push_back(token.id);
    return found;
  };
  EXPECT_EQ(ids({0.1F, 0.3F, 0.2F, 0.3F, nan}, 3), (std::vector{1, 3, 2}));
  EXPECT_EQ(ids({0.1F, nan}, 3), std::vector{0});
  EXPECT_TRUE(ids({0.1F}, 0).empty());
}

}  // namespace
}  // namespace alate
