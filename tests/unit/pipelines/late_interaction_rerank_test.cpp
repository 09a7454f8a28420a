// RerankPipeline over models for late interaction, against what tests/golden/record_late_ranking.py recorded.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "alate/embedding.h"
#include "alate/error.h"
#include "alate/late_interaction.h"
#include "alate/rerank.h"
#include "pipelines/task_pipelines.h"
#include "tests/golden/tiny_kinds.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

using formats::Json;

class LateInteractionRerank : public testing::TestWithParam<std::string> {
 protected:
  LateInteractionRerank() {
    tests::write_tiny_kinds(model_, GetParam());
    const std::filesystem::path file = tests::recorded_rerankers() / "late_interaction.json";
    const Json recorded = formats::parse_json(base::read_text_file(file), file.string());
    query_ = recorded.get_string("query", "");
    for (const Json& text : recorded.find("texts")->as_array("texts")) texts_.push_back(text.as_string("text"));
    for (const Json& score : recorded.find("models")->find(GetParam())->as_array("scores"))
      scores_.push_back(static_cast<float>(score.as_double("score")));
  }

  base::TemporaryFolder folder_;
  const std::filesystem::path model_ = folder_.path() / "model";
  std::string query_;
  std::vector<std::string> texts_;
  std::vector<float> scores_;  // MaxSim
};

TEST_P(LateInteractionRerank, MaxSimEqualsSentenceTransformers) {
  for (const char* backend : {"cpu", "reference"}) {
    const RerankPipeline pipeline =
        RerankPipeline::load(model_, {.backend = {.places = {BackendPlace::parse(backend)}}});
    for (const RerankOptions& options : {RerankOptions{.raw_scores = true}, RerankOptions{.model_scores = true}}) {
      const RerankScores found = pipeline.rerank(query_, texts_, options);
      ASSERT_EQ(found.scores.size(), scores_.size());
      for (std::size_t i = 0; i < scores_.size(); ++i) EXPECT_NEAR(found.scores[i], scores_[i], 2e-5) << i << backend;
    }
  }
}

TEST_P(LateInteractionRerank, OtherScoresAreTheMeanCosineFrom0To1) {
  const RerankPipeline pipeline = RerankPipeline::load(model_);
  const std::size_t vectors =
      static_cast<std::size_t>(EmbeddingPipeline::load(model_)
                                   .embed_kinds(std::vector<std::string>{query_},
                                                EmbeddingKinds::only(EmbeddingKind::multi_vector), {.task = "query"})
                                   .multi_vectors.front()
                                   .extent(0));
  const std::vector<float> found = pipeline.rerank(query_, texts_).scores;
  ASSERT_EQ(found.size(), scores_.size());
  for (std::size_t i = 0; i < scores_.size(); ++i)
    EXPECT_NEAR(found[i], (1 + scores_[i] / static_cast<float>(vectors)) / 2, 1e-6);
  EXPECT_TRUE(pipeline.rerank(query_, std::vector<std::string>{}).scores.empty());
}

TEST_P(LateInteractionRerank, TellsWhatWasCutAndRefusesWhatMustNotBe) {
  const RerankPipeline pipeline = RerankPipeline::load(model_);
  const RerankScores cut = pipeline.rerank(query_, texts_, {.long_texts = {.max_length = 12}});
  EXPECT_EQ(cut.truncated, (std::vector<std::size_t>{1, 6}));
  EXPECT_NE(
      pipeline.rerank(query_, {texts_[1]}, {.long_texts = {.max_length = 12, .treatment = LongTexts::cut_left}}).scores,
      std::vector<float>{cut.scores[1]});
  const auto refusal = [&](LongTexts treatment) {
    return base::error_of(
        [&] { (void)pipeline.rerank(query_, texts_, {.long_texts = {.max_length = 12, .treatment = treatment}}); });
  };
  EXPECT_EQ(refusal(LongTexts::error).code(), ErrorCode::invalid_argument);
  EXPECT_NE(refusal(LongTexts::error).message().find("text 2 has more than the 12 tokens"), std::string::npos)
      << refusal(LongTexts::error).message();
  EXPECT_EQ(refusal(LongTexts::windows).code(), ErrorCode::unsupported);
}

TEST_P(LateInteractionRerank, ServersEmbedAndRerankWithOneModel) {
  const pipelines::TaskPipelines pipelines = pipelines::TaskPipelines::load(model_, {});
  EXPECT_EQ(pipelines.tasks(), (std::vector<pipelines::Task>{pipelines::Task::embed, pipelines::Task::rerank}));
  EXPECT_EQ(pipelines.reranker().rerank(query_, texts_).scores,
            RerankPipeline::load(model_).rerank(query_, texts_).scores);
}

INSTANTIATE_TEST_SUITE_P(Models, LateInteractionRerank,
                         testing::Values("colbert_attending", "colbert_native", "colbert_pylate", "colbert_stanford"),
                         [](const auto& model) { return model.param; });

}  // namespace
}  // namespace alate
