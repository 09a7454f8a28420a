// RerankPipeline against transformers and tokenizers, on what tests/golden/record_rerank.py recorded.
#include "alate/rerank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "alate/embedding.h"
#include "alate/error.h"
#include "formats/tensor_file.h"
#include "pipelines/rerank/rerank_run.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

namespace fs = std::filesystem;
using tests::RecordedRanking;

std::vector<fs::path> cases_of(const std::string& model) {
  std::vector<fs::path> cases;
  for (const fs::directory_entry& entry : fs::directory_iterator(tests::golden_folder("rerankers/" + model))) {
    if (entry.path().filename().string().starts_with("case_")) cases.push_back(entry.path());
  }
  EXPECT_GE(cases.size(), 3U);
  return cases;
}

void expect_near(const std::vector<float>& found, const std::vector<float>& wanted, const std::string& what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-5) << what << " text " << i;
}

class RerankGolden : public testing::TestWithParam<std::string> {
 protected:
  RerankGolden() { tests::write_tiny_reranker(folder_.path() / "model", GetParam()); }

  RerankPipeline load(const LoadOptions& options = {}) const {
    return RerankPipeline::load(folder_.path() / "model", options);
  }

  base::TemporaryFolder folder_;
};

TEST_P(RerankGolden, LogitsEqualTransformers) {
  for (const char* backend : {"cpu", "reference"}) {
    const RerankPipeline pipeline = load({.backend = {.places = {BackendPlace::parse(backend)}}});
    for (const fs::path& file : cases_of(GetParam())) {
      const RecordedRanking wanted = tests::read_ranking(file);
      const RerankScores found = pipeline.rerank(wanted.query, wanted.texts, {.raw_scores = true});
      expect_near(found.scores, wanted.logits, file.string() + " on " + backend);
      EXPECT_EQ(found.truncated, wanted.truncated) << file;
      EXPECT_EQ(found.tokens, wanted.tokens) << file;
    }
  }
}

TEST_P(RerankGolden, PairsAreCutAsTokenizersDoes) {
  const RerankPipeline pipeline = load();
  EXPECT_EQ(pipeline.max_length(), 32U);
  for (const fs::path& file : cases_of(GetParam())) {
    const RecordedRanking wanted = tests::read_ranking(file);
    const std::vector<std::string_view> texts(wanted.texts.begin(), wanted.texts.end());
    const auto run = pipelines::begin_rerank(pipeline, wanted.query, texts, {});
    const pipelines::PreparedRows rows = run->prepare(base::Cancellation::never());
    ASSERT_EQ(rows.rows.size(), wanted.ids.size());
    for (std::size_t i = 0; i < wanted.ids.size(); ++i) EXPECT_EQ(rows.rows[i].ids, wanted.ids[i]) << file << " " << i;
  }
}

TEST_P(RerankGolden, ScoresAreSigmoidsOfLogits) {
  const RerankPipeline pipeline = load();
  const RecordedRanking wanted = tests::recorded_ranking();
  const RerankScores raw = pipeline.rerank(wanted.query, wanted.texts, {.raw_scores = true});
  const RerankScores scores = pipeline.rerank(wanted.query, wanted.texts);
  ASSERT_EQ(scores.scores.size(), raw.scores.size());
  for (std::size_t i = 0; i < raw.scores.size(); ++i)
    EXPECT_NEAR(scores.scores[i], 1 / (1 + std::exp(-raw.scores[i])), 1e-6) << i;
}

TEST_P(RerankGolden, GivesTheSameBitsInEveryBatch) {
  const RerankPipeline pipeline = load();
  const RecordedRanking recorded = tests::recorded_ranking();
  const std::vector<float> together = pipeline.rerank(recorded.query, recorded.texts).scores;
  for (const std::size_t batch_size : {1U, 3U})
    EXPECT_EQ(pipeline.rerank(recorded.query, recorded.texts, {.batch_size = batch_size}).scores, together);
  EXPECT_EQ(pipeline.rerank(recorded.query, recorded.texts, {.batch_tokens = 40}).scores, together);
  EXPECT_EQ(together[0], together[5]);  // the same text
}

INSTANTIATE_TEST_SUITE_P(Models, RerankGolden, testing::Values("bert", "roberta"),
                         [](const auto& model) { return model.param; });

pipelines::TextModel text_model_of(const EmbeddingPipeline& pipeline) {
  return {.model = pipeline.model(), .tokenizer = pipeline.tokenizer(), .max_length = pipeline.max_length()};
}

class Rerank : public testing::Test {
 protected:
  Rerank() { tests::write_tiny_reranker(model_); }

  // Replaces text of the model's config.json.
  void edit_config(const std::string& what, const std::string& by) const {
    std::string text = base::read_text_file(model_ / "config.json");
    text.replace(text.find(what), what.size(), by);
    folder_.write("model/config.json", text);
  }
  // Of a class that takes tokenizer.json as it is.
  void write_tokenizer_config(const std::string& members) const {
    folder_.write("model/tokenizer_config.json",
                  R"({"tokenizer_class":"TokenizersBackend","model_max_length":32,)" + members + "}");
  }
  Error load_error() const {
    return base::error_of([&] { (void)RerankPipeline::load(model_); });
  }

  base::TemporaryFolder folder_;
  const fs::path model_ = folder_.path() / "model";
};

TEST_F(Rerank, TakesEveryFormOfTexts) {
  const RerankPipeline pipeline = RerankPipeline::load(model_);
  const std::vector<std::string> strings = {"the cat", "a dog"};
  const std::array<std::string_view, 2> views = {"the cat", "a dog"};
  const std::vector<float> wanted = pipeline.rerank("a query", strings).scores;
  ASSERT_EQ(wanted.size(), 2U);
  EXPECT_NE(wanted[0], wanted[1]);
  EXPECT_EQ(pipeline.rerank("a query", views).scores, wanted);
  EXPECT_EQ(pipeline.rerank("a query", {"the cat", "a dog"}).scores, wanted);
  EXPECT_NE(pipeline.rerank("another", strings).scores, wanted);
  EXPECT_TRUE(pipeline.rerank("a query", std::vector<std::string>{}).scores.empty());
}

TEST_F(Rerank, HasTheLengthOfTheModelOrAShorterOne) {
  const RerankPipeline pipeline = RerankPipeline::load(model_);
  const RerankScores cut = pipeline.rerank("the cat", {"a", "a b c d e f g h"}, {.long_texts = {.max_length = 8}});
  EXPECT_EQ(cut.truncated, std::vector<std::size_t>{1});
  EXPECT_EQ(cut.tokens, 6U + 8U);
  const RerankScores left = pipeline.rerank("the cat", {"a b c d e f g h"},
                                            {.long_texts = {.max_length = 8, .treatment = LongTexts::cut_left}});
  EXPECT_NE(left.scores.at(0), cut.scores.at(1));
  const Error error =
      base::error_of([&] { (void)pipeline.rerank("the cat", {"a"}, {.long_texts = {.max_length = 41}}); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("40 positions"), std::string::npos) << error.message();
}

TEST_F(Rerank, TokenizerConfigSaysWhetherTheModelGetsTypes) {
  const auto scores = [&] { return RerankPipeline::load(model_).rerank("a query", {"the cat", "a dog"}).scores; };
  const std::vector<float> typed = scores();
  write_tokenizer_config(R"("model_input_names":["input_ids","attention_mask"])");
  const std::vector<float> untyped = scores();
  EXPECT_NE(untyped, typed);
  write_tokenizer_config(R"("model_input_names":["input_ids","token_type_ids","attention_mask"])");
  EXPECT_EQ(scores(), typed);
  // As if the template gave no token type 1.
  std::string tokenizer = base::read_text_file(model_ / "tokenizer.json");
  const std::string one = R"("type_id": 1)", zero = R"("type_id": 0)";
  for (std::size_t at = tokenizer.find(one); at != std::string::npos; at = tokenizer.find(one))
    tokenizer.replace(at, one.size(), zero);
  folder_.write("model/tokenizer.json", tokenizer);
  EXPECT_EQ(scores(), untyped);
}

TEST_F(Rerank, TokenizerConfigSaysWhichEndOfALongTextIsCut) {
  const auto score = [&](std::optional<LongTexts> treatment) {
    return RerankPipeline::load(model_)
        .rerank("the cat", {"a b c d e f g h"}, {.long_texts = {.max_length = 8, .treatment = treatment}})
        .scores;
  };
  const std::vector<float> left = score(LongTexts::cut_left);
  EXPECT_NE(score({}), left);
  write_tokenizer_config(
      R"("truncation_side":"left","model_input_names":["input_ids","token_type_ids","attention_mask"])");
  EXPECT_EQ(score({}), left);
  EXPECT_NE(score(LongTexts::cut), left);  // asked for
}

TEST_F(Rerank, LongTextsAreReadInWindowsOrRefused) {
  const RerankPipeline pipeline = RerankPipeline::load(model_);
  const LongTextOptions windows{.max_length = 10, .treatment = LongTexts::windows, .stride = 0};
  // Windows of four tokens beside the query: [CLS] the cat [SEP] … [SEP], with room for five.
  const std::vector<float> parts = pipeline.rerank("the cat", {"a b c d e", "f g h"}).scores;
  const RerankScores whole = pipeline.rerank("the cat", {"a b c d e f g h"}, {.long_texts = windows});
  EXPECT_EQ(whole.scores, std::vector<float>{std::max(parts[0], parts[1])});
  EXPECT_TRUE(whole.truncated.empty());
  EXPECT_EQ(whole.tokens, 10U + 8U);
  const Error no_room = base::error_of([&] {
    (void)pipeline.rerank("the cat sat on a mat", {"fox"},
                          {.long_texts = {.max_length = 9, .treatment = LongTexts::windows}});
  });
  EXPECT_EQ(no_room.code(), ErrorCode::invalid_argument);
  EXPECT_NE(no_room.message().find("the query has 6 tokens"), std::string::npos) << no_room.message();
  const Error refused = base::error_of([&] {
    (void)pipeline.rerank("the cat", {"a", "a b c d e f g h"},
                          {.long_texts = {.max_length = 8, .treatment = LongTexts::error}});
  });
  EXPECT_EQ(refused.code(), ErrorCode::invalid_argument);
  EXPECT_NE(refused.message().find("text 2 has, with the query, more than the 8 tokens"), std::string::npos)
      << refused.message();
}

TEST_F(Rerank, ScoresOfTheModelNeedAKnownFunctionAndExcludeRawOnes) {
  edit_config("\"architectures\"",
              R"("sbert_ce_default_activation_function": "torch.nn.modules.activation.GLU", "architectures")");
  const RerankPipeline pipeline = RerankPipeline::load(model_);
  const Error unknown = base::error_of([&] { (void)pipeline.rerank("a", {"b"}, {.model_scores = true}); });
  EXPECT_EQ(unknown.code(), ErrorCode::unsupported);
  EXPECT_TRUE(unknown.message().ends_with(": GLU")) << unknown.message();
  EXPECT_EQ(pipeline.rerank("a", {"b"}, {.raw_scores = true}).scores.size(), 1U);
  const Error both =
      base::error_of([&] { (void)pipeline.rerank("a", {"b"}, {.raw_scores = true, .model_scores = true}); });
  EXPECT_EQ(both.code(), ErrorCode::invalid_argument);
  const Error prompt = base::error_of([&] { (void)pipeline.rerank("a", {"b"}, {.prompt_name = "none"}); });
  EXPECT_EQ(prompt.code(), ErrorCode::invalid_argument);
}

TEST_F(Rerank, RunsOverAnEmbeddingPipelinesModel) {
  const RerankPipeline alone = RerankPipeline::load(model_);
  const RerankPipeline shared = pipelines::reranker_of(text_model_of(EmbeddingPipeline::load(model_, {.force = true})));
  EXPECT_EQ(shared.max_length(), alone.max_length());
  const RecordedRanking recorded = tests::recorded_ranking();
  EXPECT_EQ(shared.rerank(recorded.query, recorded.texts).scores, alone.rerank(recorded.query, recorded.texts).scores);
}

TEST_F(Rerank, CanBeCancelled) {
  const RerankPipeline pipeline = RerankPipeline::load(model_);
  std::stop_source source;
  source.request_stop();
  const Error error = base::error_of([&] { (void)pipeline.rerank("a", {"b"}, {}, {.stop = source.get_token()}); });
  EXPECT_EQ(error.code(), ErrorCode::cancelled);
}

TEST_F(Rerank, ReportsTheTextsThatAreScored) {
  const RerankPipeline pipeline = RerankPipeline::load(model_);
  std::vector<std::uint64_t> done;
  const RunControl control{.progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.total, 3U);
    done.push_back(progress.done);
  }};
  (void)pipeline.rerank("a", {"b", "c", "d"}, {.batch_size = 2}, control);
  EXPECT_EQ(done, (std::vector<std::uint64_t>{0, 2, 3}));
}

TEST_F(Rerank, ModelsWithoutTheHeadAreRefused) {
  edit_config("BertForSequenceClassification", "BertModel");
  const Error error = load_error();
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("BertForSequenceClassification with one label or two"), std::string::npos)
      << error.message();
  EXPECT_TRUE(error.message().ends_with(": BertModel")) << error.message();
  const EmbeddingPipeline embedding = EmbeddingPipeline::load(model_);
  EXPECT_EQ(base::error_of([&] { (void)pipelines::reranker_of(text_model_of(embedding)); }).message(), error.message());
}

TEST_F(Rerank, ModelsWithSeveralLabelsAreRefused) {
  const fs::path recorded = tests::golden_folder("architectures/roberta_sequence_classification");
  tests::write_tiny_model(recorded, folder_.path() / "labels");
  fs::copy_file(model_ / "tokenizer.json", folder_.path() / "labels/tokenizer.json");
  const Error error = base::error_of([&] { (void)RerankPipeline::load(folder_.path() / "labels"); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("has 3 labels"), std::string::npos) << error.message();
}

TEST_F(Rerank, OnnxFilesAreRefused) {
  fs::remove(model_ / "model.safetensors");
  folder_.write("model/model.onnx", "no matter what");
  const Error error = load_error();
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_TRUE(error.message().ends_with(": ONNX")) << error.message();
}

TEST_F(Rerank, TextsWhoseSigmoidsAreAllOneAreInTheOrderOfTheirLogits) {
  // The classifier of a model that is sure of everything: logits far above 17.
  std::vector<formats::NamedTensor> weights = formats::read_tensors(model_ / "model.safetensors");
  for (formats::NamedTensor& each : weights) {
    if (each.name == "classifier.bias") each.tensor = Tensor::from<float>({1}, {each.tensor.values<float>()[0] + 30});
  }
  formats::write_tensors(model_ / "model.safetensors", weights);
  const RerankPipeline pipeline = RerankPipeline::load(model_);
  const RecordedRanking recorded = tests::recorded_ranking();
  const RerankScores raw = pipeline.rerank(recorded.query, recorded.texts, {.raw_scores = true});
  const RerankScores scaled = pipeline.rerank(recorded.query, recorded.texts);
  for (const float score : scaled.scores) EXPECT_EQ(score, 1.0F);
  EXPECT_EQ(scaled.raw_scores, raw.scores);
  EXPECT_EQ(raw.raw_scores, raw.scores);
  EXPECT_EQ(scaled.best_first(), raw.best_first());
  EXPECT_NE(scaled.best_first(), best_first(scaled.scores));
  EXPECT_EQ(scaled.best_first(1), raw.best_first(1));
}

TEST_F(Rerank, TextsWhoseActivationsAreEqualAreInTheOrderOfTheirLogits) {
  edit_config("\"model_type\"",
              "\"sentence_transformers\": {\"activation_fn\": \"torch.nn.modules.activation.Hardsigmoid\"}, "
              "\"model_type\"");
  std::vector<formats::NamedTensor> weights = formats::read_tensors(model_ / "model.safetensors");
  for (formats::NamedTensor& each : weights) {
    if (each.name == "classifier.bias") each.tensor = Tensor::from<float>({1}, {each.tensor.values<float>()[0] + 30});
  }
  formats::write_tensors(model_ / "model.safetensors", weights);
  const RerankPipeline pipeline = RerankPipeline::load(model_);
  const RecordedRanking recorded = tests::recorded_ranking();
  const RerankScores raw = pipeline.rerank(recorded.query, recorded.texts, {.raw_scores = true});
  const RerankScores scaled = pipeline.rerank(recorded.query, recorded.texts, {.model_scores = true});
  for (const float score : scaled.scores) EXPECT_EQ(score, 1.0F);
  EXPECT_EQ(scaled.raw_scores, raw.scores);
  EXPECT_EQ(scaled.best_first(), raw.best_first());
}

TEST(BestFirst, EqualScoresAreInTheOrderOfTheRawOnes) {
  const std::vector<float> scores = {1, 1, 0.5F, 1}, raw = {20, 30, 99, 20};
  EXPECT_EQ(best_first(scores, {}, raw), (std::vector<std::size_t>{1, 0, 3, 2}));
  EXPECT_EQ(best_first(scores, 1, raw), (std::vector<std::size_t>{1}));
}

TEST(BestFirst, EqualScoresKeepTheirOrderAndNanComesLast) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> scores = {0.5F, nan, 0.9F, 0.5F, -1, nan};
  EXPECT_EQ(best_first(scores), (std::vector<std::size_t>{2, 0, 3, 4, 1, 5}));
  EXPECT_EQ(best_first(scores, 2), (std::vector<std::size_t>{2, 0}));
  EXPECT_EQ(best_first(scores, 99).size(), 6U);
  EXPECT_TRUE(best_first({}).empty());
}

}  // namespace
}  // namespace alate
