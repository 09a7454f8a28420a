// The task that a folder's files say a model is for, and that nothing is compiled for another.
#include "pipelines/tasks/tasks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "alate/embedding.h"
#include "alate/error.h"
#include "base/files/mapped_file.h"
#include "pipelines/check_loadable.h"
#include "pipelines/task_pipelines.h"
#include "runtime/loading/loaded_model.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::pipelines {
namespace {

namespace fs = std::filesystem;

class Tasks : public testing::Test {
 protected:
  Tasks() { tests::write_tiny_reranker(reranker_); }

  // Replaces text of the reranker's config.json.
  void edit_config(const std::string& what, const std::string& by) const {
    std::string text = base::read_text_file(reranker_ / "config.json");
    text.replace(text.find(what), what.size(), by);
    folder_.write("reranker/config.json", text);
  }
  void add_modules() const {
    for (const char* file : {"modules.json", "1_Pooling"})
      fs::copy(embedder_ / file, reranker_ / file, fs::copy_options::recursive);
  }
  static std::vector<std::string> entry_points(const Model& model) {
    std::vector<std::string> names;
    for (const auto& [name, entry_point] : model.state().entry_points) names.push_back(name);
    return names;
  }

  base::TemporaryFolder folder_;
  const fs::path reranker_ = folder_.path() / "reranker";
  const fs::path embedder_ = source_folder() / "tests/golden/models/st_mean";
};

TEST_F(Tasks, ACrossEncoderReranks) {
  EXPECT_EQ(tasks_of(reranker_), std::vector{Task::rerank});
  EXPECT_EQ(tasks_of(embedder_), std::vector{Task::embed});
}

TEST_F(Tasks, ModelsOfSeveralLabelsClassifyAndBaseModelsEmbed) {
  edit_config(R"("0": "LABEL_0")", R"("0": "no", "1": "yes")");
  EXPECT_EQ(tasks_of(reranker_), std::vector{Task::classify});
  edit_config(R"("0": "no", "1": "yes")", R"("0": "LABEL_0")");
  edit_config("BertForSequenceClassification", "BertModel");
  EXPECT_EQ(tasks_of(reranker_), std::vector{Task::embed});
}

TEST_F(Tasks, LabelsWithoutNamesAreCountedAsTransformersDoes) {
  edit_config("\"id2label\"", "\"other\"");
  EXPECT_EQ(tasks_of(reranker_), std::vector{Task::rerank});  // label2id has one
  edit_config("\"label2id\"", "\"another\"");
  EXPECT_EQ(tasks_of(reranker_), std::vector{Task::classify});  // two
  edit_config("\"other\"", "\"num_labels\": 1, \"other\"");
  EXPECT_EQ(tasks_of(reranker_), std::vector{Task::rerank});
}

// Its model_type is "bert" too, and its classes have names of their own.
TEST_F(Tasks, AVariantOfAnArchitectureHasItsOwnHeads) {
  const fs::path model = folder_.path() / "jina";
  tests::write_tiny_model(tests::golden_folder("architectures/jina_bert_token_classification"), model);
  EXPECT_EQ(tasks_of(model), std::vector{Task::recognize});
  tests::write_tiny_model(tests::golden_folder("architectures/jina_bert_sequence_classification"),
                          folder_.path() / "scores");
  EXPECT_NE(tasks_of(folder_.path() / "scores"), std::vector{Task::embed});
}

TEST_F(Tasks, ACrossEncoderWithPoolingDoesBoth) {
  add_modules();
  EXPECT_EQ(tasks_of(reranker_), (std::vector{Task::embed, Task::rerank}));
}

TEST_F(Tasks, FaultsAreLeftToLoading) {
  EXPECT_EQ(tasks_of(folder_.path() / "none"), std::vector{Task::embed});
  for (const char* config : {"{", "[]", R"({"model_type": "bert", "architectures": [1]})",
                             R"({"model_type": "bert", "architectures": ["BertForDreaming"]})",
                             R"({"model_type": "bert", "architectures": ["BertForSequenceClassification"],)"
                             R"( "num_labels": "one"})"}) {
    folder_.write("reranker/config.json", config);
    EXPECT_EQ(tasks_of(reranker_), std::vector{Task::embed}) << config;
  }
}

TEST_F(Tasks, NothingIsCompiledForOtherTasks) {
  const TaskPipelines reranker = TaskPipelines::load(reranker_, {});
  EXPECT_EQ(entry_points(reranker.model()), std::vector<std::string>{"rerank"});
  EXPECT_GT(reranker.weight_bytes(), 0U);
  EXPECT_EQ(reranker.max_length(), RerankPipeline::load(reranker_).max_length());
  EXPECT_EQ(reranker.dimensions(), 0U);
  EXPECT_EQ(entry_points(TaskPipelines::load(embedder_, {}).model()), std::vector<std::string>{"embed"});
  add_modules();
  const TaskPipelines both = TaskPipelines::load(reranker_, {});
  EXPECT_EQ(entry_points(both.model()), std::vector<std::string>{"embed"});
  EXPECT_EQ(both.reranker().rerank("a", {"b"}).scores, RerankPipeline::load(reranker_).rerank("a", {"b"}).scores);
}

TEST_F(Tasks, ARerankerSaysThatItGivesNoVectors) {
  const TaskPipelines reranker = TaskPipelines::load(reranker_, {});
  const Error error = base::error_of([&] { (void)reranker.embedding(); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("is a reranker"), std::string::npos) << error.message();
  EXPECT_TRUE(error.message().ends_with(": BertForSequenceClassification")) << error.message();
}

TEST_F(Tasks, ModelsForSomethingElseEmbedOnlyByForce) {
  const auto refusal = [&] { return base::error_of([&] { (void)EmbeddingPipeline::load(reranker_); }); };
  EXPECT_EQ(refusal().code(), ErrorCode::unsupported);
  EXPECT_NE(refusal().message().find("is a reranker"), std::string::npos) << refusal().message();
  EXPECT_GT(EmbeddingPipeline::load(reranker_, {.force = true}).dimensions(), 0U);
  edit_config(R"("0": "LABEL_0")", R"("0": "no", "1": "yes")");
  EXPECT_NE(refusal().message().find("is a classifier"), std::string::npos) << refusal().message();
  edit_config("BertForSequenceClassification", "BertModel");
  EXPECT_NO_THROW((void)EmbeddingPipeline::load(reranker_));
  edit_config("BertModel", "BertForSequenceClassification");
  add_modules();
  EXPECT_NO_THROW((void)EmbeddingPipeline::load(reranker_));
}

TEST_F(Tasks, BareLanguageModelsEmbedOnlyByForceOrWhereThePoolingIsNamed) {
  const fs::path model = folder_.path() / "causal";
  tests::write_tiny_model(tests::golden_folder("architectures/qwen3_causal_lm"), model);
  fs::copy_file(embedder_ / "tokenizer.json", model / "tokenizer.json");
  EXPECT_TRUE(is_bare_language_model(model));
  EXPECT_EQ(purpose_of(model).type, "generator");
  EXPECT_EQ(purpose_of(reranker_).capabilities, std::vector<std::string>{"rerank"});
  const Error error = base::error_of([&] { (void)EmbeddingPipeline::load(model); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("is a language model"), std::string::npos) << error.message();
  EXPECT_NO_THROW((void)EmbeddingPipeline::load(model, {.force = true}));
  EXPECT_NO_THROW((void)EmbeddingPipeline::load(model, {.pooling = Pooling::last}));
  // A server has its tokenizer, and no vectors of it.
  const TaskPipelines hosted = TaskPipelines::load(model, {});
  EXPECT_EQ(base::error_of([&] { (void)hosted.embedding(); }).message(), error.message());
  folder_.write("causal/model_manifest.json", R"({"schemaVersion": 1, "name": "causal", "type": "embedder"})");
  EXPECT_FALSE(is_bare_language_model(model));
  EXPECT_NO_THROW((void)EmbeddingPipeline::load(model));
}

TEST_F(Tasks, CheckingSaysOfARerankerWhatLoadingItSays) {
  EXPECT_EQ(check_loadable(reranker_, {}).backend, "cpu");
  EXPECT_EQ(check_loadable(reranker_, LoadOptions{.dtype = ComputeType::automatic}).backend, "cpu");
  // The tiny weights are written with a classifier of one row; the base model has no fault.
  const std::string weights = base::read_text_file(reranker_ / "model.safetensors");
  std::string renamed = weights;
  renamed.replace(renamed.find("classifier.weight"), 17, "classifier.Weight");
  folder_.write("reranker/model.safetensors", renamed);
  const Error loading = base::error_of([&] { (void)RerankPipeline::load(reranker_); });
  EXPECT_EQ(loading.code(), ErrorCode::not_found) << loading.message();
  EXPECT_EQ(base::error_of([&] { (void)check_loadable(reranker_, {}); }).message(), loading.message());
}

}  // namespace
}  // namespace alate::pipelines
