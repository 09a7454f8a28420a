// ClassifyPipeline against transformers' pipelines, on what tests/golden/record_classify.py recorded.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/classify.h"
#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "formats/tensor_file.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_classifiers.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

namespace fs = std::filesystem;
using formats::Json;

class ClassifyGolden : public testing::TestWithParam<std::string> {
 protected:
  ClassifyGolden() {
    tests::write_tiny_classifier(model_, GetParam());
    for (const Json& text : cases_.find("texts")->as_array("texts")) texts_.push_back(text.as_string("text"));
  }

  ClassifyPipeline load(const std::string& backend = "cpu") const {
    return ClassifyPipeline::load(model_, {.backend = {.places = {BackendPlace::parse(backend)}}});
  }
  void expect_recorded(const Classifications& found, const std::string& name) const {
    const Json::Array& wanted = cases_.find(name)->as_array(name);
    ASSERT_EQ(found.texts.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Json::Array& labels = wanted[i].as_array(name);
      ASSERT_EQ(found.texts[i].size(), labels.size());
      for (std::size_t k = 0; k < labels.size(); ++k) {
        const Json::Array& one = labels[k].as_array("label");
        EXPECT_EQ(found.texts[i][k].label, one[0].as_string("label")) << name << " text " << i;
        EXPECT_NEAR(found.texts[i][k].score, one[1].as_double("score"), 1e-5) << name << " text " << i;
      }
    }
  }

  base::TemporaryFolder folder_;
  const fs::path recorded_ = tests::golden_folder("classifiers/" + GetParam());
  const fs::path model_ = folder_.path() / "model";
  const Json cases_ = formats::parse_json(base::read_text_file(recorded_ / "cases.json"), "cases.json");
  std::vector<std::string> texts_;
};

TEST_P(ClassifyGolden, OwnLabelsEqualTransformers) {
  for (const char* backend : {"cpu", "reference"}) {
    const Classifications found = load(backend).classify(texts_);
    expect_recorded(found, "own");
    EXPECT_EQ(found.truncated, std::vector<std::size_t>{1});
  }
}

TEST_P(ClassifyGolden, GivenLabelsEqualTransformers) {
  const Json* labels = cases_.find("labels");
  if (labels == nullptr) return;
  ClassifyOptions options{.hypothesis_template = "it is {}!"};
  for (const Json& label : labels->as_array("labels")) options.labels.push_back(label.as_string("label"));
  std::vector<std::string> texts = texts_;
  for (std::string& text : texts) text = text.empty() ? " " : text;
  const ClassifyPipeline pipeline = load();
  const Classifications single = pipeline.classify(texts, options);
  expect_recorded(single, "single");
  // Each text once, though the long label leaves no room in several of its rows.
  EXPECT_EQ(single.truncated, (std::vector<std::size_t>{0, 1, 3, 4}));
  options.multi_label = true;
  expect_recorded(pipeline.classify(texts, options), "multi");
}

INSTANTIATE_TEST_SUITE_P(Models, ClassifyGolden, testing::Values("nli", "nli_first", "several", "regression", "one"),
                         [](const auto& model) { return model.param; });

class Classify : public ClassifyGolden {};

TEST_P(Classify, LongTextsAreCutReadInWindowsOrRefused) {
  const ClassifyPipeline pipeline = load();
  const std::string beginning = "where did the cat sit?", end = "the mat, the fox";
  std::string text = beginning;
  for (int i = 0; i < 30; ++i) text += " a quick brown passage";
  text += " " + end;
  const auto scores = [&](LongTexts treatment) {
    return pipeline.classify({text}, {.raw_scores = true, .long_texts = {.treatment = treatment}});
  };
  EXPECT_EQ(scores(LongTexts::cut).truncated, std::vector<std::size_t>{0});
  EXPECT_NE(scores(LongTexts::cut).texts[0][0].score, scores(LongTexts::cut_left).texts[0][0].score);
  const Classifications windows = scores(LongTexts::windows);
  EXPECT_TRUE(windows.truncated.empty());
  EXPECT_GT(windows.tokens, 3 * pipeline.max_length());
  const Error error = base::error_of([&] { (void)scores(LongTexts::error); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("text 1 has more than the 32 tokens"), std::string::npos) << error.message();
}

TEST_P(Classify, WindowsAreWeightedByTheirTokens) {
  const ClassifyPipeline pipeline = load();
  // 5 tokens a row, 3 of the text: two windows, of 5 and of 3 tokens.
  const ClassifyOptions options{.raw_scores = true,
                                .long_texts = {.max_length = 5, .treatment = LongTexts::windows, .stride = 0}};
  const auto score = [&](std::string_view text, std::string_view label) {
    const Classifications found = pipeline.classify({text}, options);
    for (const LabelScore& one : found.texts[0]) {
      if (one.label == label) return one.score;
    }
    return std::nanf("");
  };
  for (const char* label : {"contradiction", "neutral"})
    EXPECT_NEAR(score("the cat on fox", label), (5 * score("the cat on", label) + 3 * score("fox", label)) / 8, 1e-5);
}

TEST_P(Classify, LabelsOfEqualScoresAreInTheOrderOfTheirLogits) {
  std::vector<formats::NamedTensor> weights = formats::read_tensors(model_ / "model.safetensors");
  for (formats::NamedTensor& each : weights) {
    if (each.name == "classifier.bias") each.tensor = Tensor::from<float>({3}, {50, 60, 70});  // the last is the best
  }
  formats::write_tensors(model_ / "model.safetensors", weights);
  const ClassifyPipeline pipeline = ClassifyPipeline::load(model_);
  const std::vector<LabelScore> found = pipeline.classify({"a"}, {.multi_label = true}).texts.front();
  ASSERT_EQ(found.size(), 3U);
  for (const LabelScore& each : found) EXPECT_EQ(each.score, 1.0F);
  EXPECT_EQ(found.front().label, pipeline.labels()[2]);
  EXPECT_EQ(found.back().label, pipeline.labels()[0]);
  EXPECT_EQ(pipeline.classify({"a"}, {.multi_label = true, .top_k = 1}).texts.front().front().label,
            pipeline.labels()[2]);
}

TEST_P(Classify, OptionsThatMeanNothingAreRefused) {
  const ClassifyPipeline pipeline = load();
  const auto message = [&](const ClassifyOptions& options) {
    return base::error_of([&] { (void)pipeline.classify({"a"}, options); }).message();
  };
  EXPECT_NE(message({.labels = {"a"}, .hypothesis_template = "no place"}).find("must have one {}"), std::string::npos);
  EXPECT_NE(message({.labels = {"a", ""}}).find("a label is empty"), std::string::npos);
  EXPECT_NE(message({.labels = {"a"}, .raw_scores = true}).find("the model's own labels"), std::string::npos);
  EXPECT_EQ(pipeline.classify({"a"}, {.top_k = 2}).texts[0].size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Models, Classify, testing::Values("nli"), [](const auto& model) { return model.param; });

}  // namespace
}  // namespace alate
