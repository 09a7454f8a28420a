// The model of requests that name none.
#include <gtest/gtest.h>

#include <string>

#include "model_host_testing.h"
#include "tests/golden/tiny_classifiers.h"
#include "tests/golden/tiny_generators.h"
#include "tests/golden/tiny_kinds.h"
#include "tests/golden/tiny_recognizers.h"
#include "tests/golden/tiny_rerankers.h"

namespace alate::server {
namespace {

using pipelines::Task;

class ModelChoosing : public ModelHostTest {
 protected:
  Acquired acquire_for(const ModelPurpose& purpose) {
    auto promise = std::make_shared<std::promise<std::pair<std::shared_ptr<HostedModel>, std::exception_ptr>>>();
    Acquired acquired{promise->get_future()};
    const auto ready = [promise](std::shared_ptr<HostedModel> model, std::exception_ptr error) {
      promise->set_value({std::move(model), std::move(error)});
    };
    host().acquire("", "", ready, {}, purpose);
    return acquired;
  }
  std::string chosen(const ModelPurpose& purpose) { return acquire_for(purpose).model()->name; }
};

TEST_F(ModelChoosing, IsTheDefaultModelWhereThatIsForTheTask) {
  add("tiny/embedder");
  add("tiny/other", "st_max");
  settings.default_model = "tiny/other";
  EXPECT_EQ(chosen({.tasks = {Task::embed}}), "tiny/other");
  EXPECT_EQ(chosen({}), "tiny/other");
}

TEST_F(ModelChoosing, ElseTheOnlyOneThatIs) {
  add("tiny/embedder");
  add("tiny/other", "st_max");
  tests::write_tiny_reranker(settings.models_dir / "tiny/reranker");
  EXPECT_EQ(chosen({.tasks = {Task::rerank}}), "tiny/reranker");
  EXPECT_EQ(chosen({.tasks = {Task::rerank}}), "tiny/reranker");  // from memory
  const Error several = acquire_for({.tasks = {Task::embed}}).error();
  EXPECT_EQ(several.code(), ErrorCode::invalid_argument);
  EXPECT_NE(std::string_view(several.what()).find("tiny/embedder, tiny/other"), std::string_view::npos)
      << several.what();
  settings.default_model = "tiny/embedder";
  end_host();
  EXPECT_EQ(chosen({.tasks = {Task::rerank}}), "tiny/reranker");
  EXPECT_EQ(chosen({.tasks = {Task::embed}}), "tiny/embedder");
}

TEST_F(ModelChoosing, ALanguageModelIsForTextsAndNothingElse) {
  tests::write_tiny_generator(settings.models_dir / "tiny/writer");
  EXPECT_EQ(chosen({.tasks = {Task::generate}}), "tiny/writer");
  EXPECT_EQ(acquire_for({.tasks = {Task::embed}}).error().code(), ErrorCode::invalid_argument);
  add("tiny/embedder");
  end_host();
  EXPECT_EQ(chosen({.tasks = {Task::generate}}), "tiny/writer");
  EXPECT_EQ(chosen({.tasks = {Task::embed}}), "tiny/embedder");
}

TEST_F(ModelChoosing, SeveralForATaskAreNamed) {
  add("tiny/embedder");
  for (const char* name : {"tiny/a", "tiny/b"}) tests::write_tiny_reranker(settings.models_dir / name);
  settings.default_model = "tiny/embedder";
  const Error error = acquire_for({.tasks = {Task::rerank}}).error();
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(std::string_view(error.what()).find("several rerankers: tiny/a, tiny/b"), std::string_view::npos)
      << error.what();
  expect_no_path(error);
}

TEST_F(ModelChoosing, TheFirstTaskThatAnyModelIsForCounts) {
  add("tiny/embedder");
  tests::write_tiny_recognizer(settings.models_dir / "tiny/recognizer");
  settings.default_model = "tiny/embedder";
  const ModelPurpose predicts{.tasks = {Task::classify, Task::recognize}};
  EXPECT_EQ(chosen(predicts), "tiny/recognizer");
  end_host();
  tests::write_tiny_classifier(settings.models_dir / "tiny/nli");
  EXPECT_EQ(chosen(predicts), "tiny/nli");
  end_host();
  settings.default_model = "tiny/recognizer";
  EXPECT_EQ(chosen(predicts), "tiny/recognizer");
}

TEST_F(ModelChoosing, KindsOfEmbeddingsAreToldApart) {
  add("tiny/embedder");
  tests::write_tiny_kinds(settings.models_dir / "tiny/splade", "splade_max");
  settings.default_model = "tiny/embedder";
  EXPECT_EQ(chosen({.tasks = {Task::embed}, .kind = EmbeddingKind::sparse}), "tiny/splade");
  EXPECT_EQ(chosen({.tasks = {Task::embed}}), "tiny/embedder");
}

TEST_F(ModelChoosing, APurposeMayKeepADefaultModelThatIsForSomethingElse) {
  add("tiny/embedder");
  tests::write_tiny_reranker(settings.models_dir / "tiny/reranker");
  const ModelPurpose vectors{.tasks = {Task::embed}, .kind = std::nullopt, .keeps_default = true};
  EXPECT_EQ(chosen(vectors), "tiny/embedder");  // there is no default model
  end_host();
  settings.default_model = "tiny/reranker";
  EXPECT_EQ(chosen(vectors), "tiny/reranker");
}

TEST_F(ModelChoosing, BuiltInModelsAreChosenOnlyWhereNothingElseIsNamed) {
  copy_to(folder.path() / "builtin/minilm");
  tests::write_tiny_recognizer(folder.path() / "builtin/pii");
  EXPECT_EQ(chosen({.tasks = {Task::recognize}}), "builtin:pii");
  end_host();
  tests::write_tiny_recognizer(settings.models_dir / "tiny/own");
  add("tiny/embedder");
  EXPECT_EQ(chosen({.tasks = {Task::recognize}}), "tiny/own");
  end_host();
  std::filesystem::remove_all(settings.models_dir / "tiny/own");
  settings.default_model = "tiny/embedder";
  EXPECT_EQ(acquire_for({.tasks = {Task::recognize}}).error().code(), ErrorCode::invalid_argument);
}

TEST_F(ModelChoosing, WhereNoneIsForTheTaskTheRequestIsToldThatItNamesNone) {
  add("tiny/embedder");
  const Error error = acquire_for({.tasks = {Task::rerank}}).error();
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.message(),
            "the request names no model, and this server has no reranker: its default model, tiny/embedder, is for "
            "something else; GET /api/models lists what there is");
  const Error sparse = acquire_for({.tasks = {Task::embed}, .kind = EmbeddingKind::sparse}).error();
  EXPECT_NE(sparse.message().find("no embedder of sparse vectors"), std::string::npos) << sparse.message();
}

}  // namespace
}  // namespace alate::server
