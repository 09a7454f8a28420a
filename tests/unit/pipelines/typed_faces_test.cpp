// Typed faces over models that a session manager shares.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "alate/chunk.h"
#include "alate/cross_encoder.h"
#include "alate/error.h"
#include "alate/sequence_classification.h"
#include "alate/session.h"
#include "alate/token_classification.h"
#include "tests/golden/tiny_classifiers.h"
#include "tests/golden/tiny_recognizers.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

class TypedFaces : public testing::Test {
 protected:
  TypedFaces() {
    tests::write_tiny_classifier(classifier_);
    tests::write_tiny_reranker(reranker_);
  }

  base::TemporaryFolder folder_;
  const std::filesystem::path classifier_ = folder_.path() / "classifier", reranker_ = folder_.path() / "reranker";
  SessionManager sessions_;
};

TEST_F(TypedFaces, ManyThreadsShareOneModelAndGetTheSameAnswers) {
  const std::vector<float> scores = RerankPipeline::load(reranker_).rerank("the cat", {"fox", "a cat"}).scores;
  const float best = ClassifyPipeline::load(classifier_).classify({"fox"}).texts[0][0].score;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 4; ++j) {
        EXPECT_EQ(CrossEncoder::load(sessions_, reranker_).score("the cat", {"fox", "a cat"}).scores, scores);
        EXPECT_EQ(SequenceClassification::load(sessions_, classifier_).classify({"fox"}).texts[0][0].score, best);
      }
    });
  }
  const CrossEncoder kept = CrossEncoder::load(sessions_, reranker_);  // so that the model stays
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(&CrossEncoder::load(sessions_, reranker_).pipeline().model().state(), &kept.pipeline().model().state());
  EXPECT_EQ(kept.forward({{"input_ids", Tensor::from<std::int64_t>({1, 2}, std::vector<std::int64_t>{2, 3})}})
                .count("logits"),
            1U);
}

TEST_F(TypedFaces, RunWhereThePriorityTheModelAndTheCallerAllow) {
  EXPECT_EQ(CrossEncoder::load(sessions_, reranker_).backend(), "cpu");
  sessions_.set_priority({BackendPlace::reference(), BackendPlace("cpu")});
  EXPECT_EQ(CrossEncoder::load(sessions_, reranker_).backend(), "reference");
  EXPECT_EQ(SequenceClassification::load(sessions_, classifier_).backend(), "reference");
  EXPECT_EQ(CrossEncoder::load(sessions_, reranker_, {}, {BackendPlace("go")}).backend(), "cpu");
  folder_.write("classifier/model_manifest.json", R"({"backends": ["go"]})");
  EXPECT_EQ(SequenceClassification::load(sessions_, classifier_, {.load = {.threads = 1}}).backend(), "cpu");
}

TEST_F(TypedFaces, OptionsHoldForAllCalls) {
  const auto raw = CrossEncoder::load(reranker_, {.rerank = {.raw_scores = true}});
  EXPECT_EQ(raw.score("the cat", {"fox"}).scores,
            raw.pipeline().rerank("the cat", {"fox"}, {.raw_scores = true}).scores);
  const auto one = SequenceClassification::load(classifier_, {.classify = {.top_k = 1}});
  EXPECT_EQ(one.classify({"fox"}).texts[0].size(), 1U);
}

TEST_F(TypedFaces, AModelOfAnotherTaskIsRefused) {
  tests::write_tiny_recognizer(folder_.path() / "recognizer");
  const auto code = [&](auto load) { return base::error_of(load).code(); };
  EXPECT_EQ(code([&] { (void)CrossEncoder::load(sessions_, folder_.path() / "recognizer"); }), ErrorCode::unsupported);
  EXPECT_EQ(code([&] { (void)SequenceClassification::load(sessions_, folder_.path() / "recognizer"); }),
            ErrorCode::unsupported);
  EXPECT_EQ(TokenClassification::load(sessions_, folder_.path() / "recognizer").recognize({"a"}).texts.size(), 1U);
}

// The places that a manifest names hold for every task.
TEST_F(TypedFaces, RerankersClassifiersRecognizersAndChunkersFollowTheManifest) {
  const std::string reference = R"({"backends": ["reference"]})";
  tests::write_tiny_recognizer(folder_.path() / "recognizer");
  tests::write_tiny_model(source_folder() / "tests/golden/models/st_mean", folder_.path() / "embedder");
  for (const char* name : {"classifier", "reranker", "recognizer", "embedder"})
    folder_.write(std::string(name) + "/model_manifest.json", reference);
  EXPECT_EQ(RerankPipeline::load(reranker_).facts().backend, "reference");
  EXPECT_EQ(ClassifyPipeline::load(classifier_).facts().backend, "reference");
  EXPECT_EQ(RecognizePipeline::load(folder_.path() / "recognizer").facts().backend, "reference");
  EXPECT_EQ(EmbeddingPipeline::load(folder_.path() / "embedder").facts().backend, "reference");
}

}  // namespace
}  // namespace alate
