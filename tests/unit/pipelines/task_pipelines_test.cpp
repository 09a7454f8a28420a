#include "pipelines/task_pipelines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "pipelines/check_loadable.h"
#include "pipelines/model_summary.h"
#include "runtime/forward.h"
#include "tests/golden/tiny_generators.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::pipelines {
namespace {

namespace fs = std::filesystem;

// A copy of a tiny model, without the files of its tokenizer.
class WithoutTokenizer : public testing::Test {
 protected:
  WithoutTokenizer() {
    fs::copy(source_folder() / "tests/golden/models/st_mean", model_, fs::copy_options::recursive);
    remove_tokenizer();
  }
  void remove_tokenizer() const {
    for (const char* name : {"tokenizer.json", "vocab.txt"}) fs::remove(model_ / name);
  }
  void expect_refusal(const std::function<void()>& call) const {
    const Error error = base::error_of(call);
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_TRUE(error.message().starts_with("the model 'model' has no tokenizer: ")) << error.message();
  }

  base::TemporaryFolder folder_;
  const fs::path model_ = folder_.path() / "model";
};

TEST_F(WithoutTokenizer, AModelIsLoadedForTokenIds) {
  EXPECT_FALSE(has_tokenizer(model_, {}));
  const TaskPipelines loaded = TaskPipelines::load(model_, {});
  EXPECT_FALSE(loaded.has_tokenizer());
  EXPECT_EQ(loaded.tasks().front(), Task::embed);
  EXPECT_EQ(loaded.find_embedding(), nullptr);
  EXPECT_EQ(loaded.dimensions(), 0U);
  EXPECT_EQ(loaded.max_length(), loaded.facts().max_positions);
  EXPECT_GT(loaded.weight_bytes(), 0U);
  const Model whole = Model::load(source_folder() / "tests/golden/models/st_mean");
  const NamedTensors ids{{"input_ids", Tensor::from<std::int64_t>({1, 3}, {2, 5, 3})}};
  const NamedTensors own = loaded.model().forward(ids), wanted = whole.forward(ids);
  ASSERT_EQ(own.size(), wanted.size());
  for (const auto& [name, tensor] : wanted)
    EXPECT_TRUE(std::ranges::equal(own.find(name)->second.values<float>(), tensor.values<float>())) << name;
}

TEST(TaskPipelines, ALanguageModelGenerates) {
  const base::TemporaryFolder folder;
  tests::write_tiny_generator(folder.path() / "writer");
  const TaskPipelines loaded = TaskPipelines::load(folder.path() / "writer", {});
  EXPECT_EQ(loaded.tasks(), std::vector{Task::generate});
  EXPECT_EQ(loaded.max_length(), static_cast<std::size_t>(tests::kTinyContext));
  EXPECT_GT(loaded.cache_bytes(), 0U);
  EXPECT_EQ(loaded.generator().generate("w4 w5").prompt_tokens, 2U);
  EXPECT_EQ(loaded.text_model().tokenizer.encode("w4").ids, loaded.tokenizer().encode("w4").ids);
  EXPECT_EQ(loaded.find_embedding(), nullptr);
  const Error error = base::error_of([&] { (void)loaded.embedding(); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("is a language model"), std::string::npos) << error.message();
  EXPECT_EQ(check_loadable(folder.path() / "writer", {}).backend, loaded.facts().backend);
  const ModelSummary summary = summarize_model(folder.path() / "writer", {});
  EXPECT_EQ(summary.type, "generator");
  EXPECT_EQ(summary.tasks, std::vector{Task::generate});
}

TEST(TaskPipelines, AnEmbedderSaysThatItWritesNoTexts) {
  const TaskPipelines loaded = TaskPipelines::load(source_folder() / "tests/golden/models/st_mean", {});
  EXPECT_EQ(loaded.find_generator(), nullptr);
  const Error error = base::error_of([&] { (void)loaded.generator(); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("turns texts into vectors, and writes no texts"), std::string::npos)
      << error.message();
}

TEST_F(WithoutTokenizer, WhatReadsTextsIsRefusedByName) {
  const TaskPipelines embedder = TaskPipelines::load(model_, {});
  expect_refusal([&] { (void)embedder.embedding(); });
  expect_refusal([&] { (void)embedder.text_model(); });
  expect_refusal([&] { (void)embedder.reranker(); });
  expect_refusal([&] { (void)embedder.tokenizer(); });
  fs::remove_all(model_);
  tests::write_tiny_reranker(model_);
  remove_tokenizer();
  const TaskPipelines reranker = TaskPipelines::load(model_, {});
  EXPECT_EQ(reranker.tasks().front(), Task::rerank);
  expect_refusal([&] { (void)reranker.reranker(); });
  expect_refusal([&] { (void)reranker.text_model(); });
}

TEST_F(WithoutTokenizer, ABrokenTokenizerIsStillAnError) {
  folder_.write("model/tokenizer.json", "{");
  EXPECT_TRUE(has_tokenizer(model_, {}));
  EXPECT_EQ(base::error_of([&] { (void)TaskPipelines::load(model_, {}); }).code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace alate::pipelines
