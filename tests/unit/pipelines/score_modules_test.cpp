// Cross-encoders of modules against sentence-transformers' CrossEncoder (tests/golden/record_score_modules.py), and
// what is refused.
#include "pipelines/modules/score_modules.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "alate/classify.h"
#include "alate/rerank.h"
#include "formats/tensor_file.h"
#include "pipelines/check_loadable.h"
#include "pipelines/task_pipelines.h"
#include "pipelines/tasks/tasks.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::pipelines {
namespace {

namespace fs = std::filesystem;
using formats::Json;

class ScoresOfModules : public testing::Test {
 protected:
  ScoresOfModules() { tests::write_tiny_reranker(model_, "modules"); }

  void edit(const std::string& file, const std::string& what, const std::string& by) const {
    std::string text = base::read_text_file(model_ / file);
    ASSERT_NE(text.find(what), std::string::npos) << file;
    text.replace(text.find(what), what.size(), by);
    folder_.write("model/" + file, text);
  }
  Error refusal() const {
    return base::error_of([&] { (void)RerankPipeline::load(model_); });
  }
  // The last layer with this many rows.
  void give_labels(std::int64_t count) const {
    const std::string file = "4_Dense/model.safetensors";
    edit("4_Dense/config.json", R"("out_features": 1)", R"("out_features": )" + std::to_string(count));
    std::vector<formats::NamedTensor> made;
    for (const formats::NamedTensor& each : formats::read_tensors(model_ / file)) {
      std::vector<float> values;
      for (std::int64_t row = 0; row < count; ++row) {
        for (const float value : each.tensor.values<float>()) values.push_back(value * static_cast<float>(row));
      }
      std::vector<std::int64_t> extents = {count};
      if (each.tensor.shape().rank() == 2) extents.push_back(each.tensor.extent(1));
      made.push_back({each.name, Tensor::from<float>(extents, values)});
    }
    formats::write_tensors(model_ / file, made);
  }

  base::TemporaryFolder folder_;
  const fs::path model_ = folder_.path() / "model";
  const Json case_ = formats::parse_json(
      base::read_text_file(tests::golden_folder("rerankers/modules") / "case_texts.json"), "case_texts");
  const std::string query_ = case_.get_string("query", "");
  const std::vector<std::string> texts_ = [&] {
    std::vector<std::string> texts;
    for (const Json& text : case_.find("texts")->as_array("texts")) texts.push_back(text.as_string("text"));
    return texts;
  }();
  const std::vector<float> scores_ = [&] {
    std::vector<float> scores;
    for (const Json& score : case_.find("scores")->as_array("scores"))
      scores.push_back(static_cast<float>(score.as_double("score")));
    return scores;
  }();
};

TEST_F(ScoresOfModules, EqualCrossEncoders) {
  for (const char* backend : {"cpu", "reference"}) {
    const RerankPipeline pipeline =
        RerankPipeline::load(model_, {.backend = {.places = {BackendPlace::parse(backend)}}});
    for (const RerankOptions& options : {RerankOptions{.raw_scores = true}, RerankOptions{.model_scores = true}}) {
      const RerankScores found = pipeline.rerank(query_, texts_, options);
      ASSERT_EQ(found.scores.size(), scores_.size());
      for (std::size_t i = 0; i < scores_.size(); ++i) EXPECT_NEAR(found.scores[i], scores_[i], 2e-4) << backend << i;
    }
  }
}

TEST_F(ScoresOfModules, AreThoseOfTheModelHoweverItIsLoaded) {
  EXPECT_EQ(tasks_of(model_), std::vector{Task::rerank});
  EXPECT_EQ(check_loadable(model_, {}).backend, "cpu");
  const std::vector<float> wanted = RerankPipeline::load(model_).rerank(query_, texts_).scores;
  const TaskPipelines hosted = TaskPipelines::load(model_, {});
  EXPECT_EQ(hosted.reranker().rerank(query_, texts_).scores, wanted);
  EXPECT_GT(hosted.weight_bytes(), 0U);
  EXPECT_EQ(RerankPipeline::over(hosted.model()).rerank(query_, texts_).scores, wanted);
}

TEST_F(ScoresOfModules, TheTextIsNoEmbedderUnlessForced) {
  const Error error = base::error_of([&] { (void)EmbeddingPipeline::load(model_); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("is a reranker"), std::string::npos) << error.message();
  EXPECT_EQ(EmbeddingPipeline::load(model_, {.force = true}).dimensions(), 32U);
}

TEST_F(ScoresOfModules, LowerCaseIsThatOfTheTransformersSettings) {
  folder_.write("model/sentence_bert_config.json", R"({"do_lower_case": true})");
  const RerankPipeline pipeline = RerankPipeline::load(model_);
  EXPECT_EQ(pipeline.rerank("WHERE is the cat", {"MONEY"}).scores,
            pipeline.rerank("where is the cat", {"money"}).scores);
  folder_.write("model/sentence_bert_config.json", R"({"max_seq_length": 9})");
  EXPECT_EQ(RerankPipeline::load(model_).max_length(), 9U);
}

TEST_F(ScoresOfModules, OfSeveralLabelsClassify) {
  give_labels(3);
  EXPECT_EQ(tasks_of(model_), std::vector{Task::classify});
  EXPECT_EQ(check_loadable(model_, {}).backend, "cpu");
  const ClassifyPipeline pipeline = ClassifyPipeline::load(model_);
  EXPECT_EQ(pipeline.labels().size(), 3U);
  const Classifications found = pipeline.classify({texts_[0]}, {.raw_scores = true});
  ASSERT_EQ(found.texts.front().size(), 3U);
  EXPECT_EQ(TaskPipelines::load(model_, {}).text_model().score_modules->labels, 3);
  const Error error = refusal();
  EXPECT_NE(error.message().find("has 3 labels"), std::string::npos) << error.message();
}

TEST_F(ScoresOfModules, OfTwoLabelsRankByHowFarTheSecondIsAhead) {
  give_labels(2);  // 0 and the logit
  EXPECT_EQ(tasks_of(model_), std::vector{Task::classify});
  const RerankScores found = RerankPipeline::load(model_).rerank(query_, texts_, {.raw_scores = true});
  for (std::size_t i = 0; i < scores_.size(); ++i) EXPECT_NEAR(found.scores[i], scores_[i], 2e-4) << i;
}

TEST_F(ScoresOfModules, ModulesThatAreNotBuiltAreNamed) {
  edit("modules.json", "sentence_transformers.models.LayerNorm", "somewhere.Else");
  const Error error = refusal();
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_TRUE(error.message().ends_with(": Else")) << error.message();
}

TEST_F(ScoresOfModules, WithoutAnOutputForScoresAreRefused) {
  edit("4_Dense/config.json", R"("scores")", R"("sentence_embedding")");
  EXPECT_NE(refusal().message().find("no Dense module with the output \"scores\""), std::string::npos)
      << refusal().message();
}

TEST_F(ScoresOfModules, APromptIsNeverLeftOutOfThePoolingUnnoticed) {
  edit("1_Pooling/config.json", "{", R"({"include_prompt": false,)");
  const RerankPipeline pipeline = RerankPipeline::load(model_);
  EXPECT_EQ(pipeline.rerank(query_, texts_).scores.size(), texts_.size());
  EXPECT_EQ(base::error_of([&] { (void)pipeline.rerank(query_, texts_, {.prompt = "a query: "}); }).code(),
            ErrorCode::unsupported);
}

}  // namespace
}  // namespace alate::pipelines
