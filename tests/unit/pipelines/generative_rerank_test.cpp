// RerankPipeline over language models and chat templates, against sentence-transformers' CrossEncoder:
// tests/golden/record_generative_rerankers.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "alate/error.h"
#include "alate/rerank.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "pipelines/check_loadable.h"
#include "pipelines/task_pipelines.h"
#include "runtime/loading/loaded_model.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

namespace fs = std::filesystem;
using formats::Json;

Json recorded() {
  const fs::path file = tests::recorded_rerankers() / "generative.json";
  return formats::parse_json(base::read_text_file(file), file.string());
}

std::vector<std::string> case_names() {
  const Json all = recorded();
  std::vector<std::string> names;
  for (const Json& one : all.find("cases")->as_array("cases")) names.push_back(one.get_string("name", ""));
  return names;
}

// As tokenizer_text of the script writes it.
std::string tokenizer_text() {
  std::string text = base::read_text_file(source_folder() / "tests/golden/tokenizer_corpus/qwen.json");
  std::string words;
  for (const auto& [word, id] : {std::pair("yes", "707"), std::pair("no", "708")})
    words += std::string(R"(,{"id":)") + id + R"(,"content":")" + word +
             R"(","single_word":true,"lstrip":false,"rstrip":false,"normalized":false,"special":false})";
  return text.insert(text.find(']', text.find(R"("added_tokens":[)")), words);
}

class GenerativeRerank : public testing::Test {
 protected:
  // Writes the model of a case.
  void write(const std::string& name) {
    for (const Json& one : all_.find("cases")->as_array("cases")) {
      if (one.get_string("name", "") == name) case_ = one;
    }
    tests::write_tiny_model(tests::golden_folder("rerankers/" + case_.get_string("model", "")), model_);
    folder_.write("model/tokenizer.json", tokenizer_text());
    folder_.write("model/chat_template.jinja",
                  all_.find("templates")->get_string(case_.get_string("template", ""), "?"));
    if (const Json* files = case_.find("files")) {
      for (const auto& [file, content] : files->as_object("files")) {
        fs::create_directories((model_ / file).parent_path());
        folder_.write("model/" + file, formats::to_json_text(content));
      }
    }
    for (const Json& text : all_.find("texts")->as_array("texts")) texts_.push_back(text.as_string("text"));
    for (const Json& score : case_.find("scores")->as_array("scores"))
      scores_.push_back(static_cast<float>(score.as_double("score")));
  }
  RerankOptions options() const {
    RerankOptions options{.model_scores = true, .prompt_name = case_.get_string("prompt_name", "")};
    if (const Json* prompt = case_.find("prompt")) options.prompt = prompt->as_string("prompt");
    return options;
  }
  void expect_scores(const RerankPipeline& pipeline, const std::string& what) const {
    const RerankScores found = pipeline.rerank(query_, texts_, options());
    ASSERT_EQ(found.scores.size(), scores_.size());
    for (std::size_t i = 0; i < scores_.size(); ++i) EXPECT_NEAR(found.scores[i], scores_[i], 1e-5) << what << i;
    EXPECT_EQ(found.truncated, std::vector<std::size_t>{4});
  }

  base::TemporaryFolder folder_;
  const fs::path model_ = folder_.path() / "model";
  const Json all_ = recorded();
  Json case_;
  const std::string query_ = all_.get_string("query", "");
  std::vector<std::string> texts_;
  std::vector<float> scores_;
};

class GenerativeRerankCases : public GenerativeRerank, public testing::WithParamInterface<std::string> {
 protected:
  GenerativeRerankCases() { write(GetParam()); }
};

TEST_P(GenerativeRerankCases, ScoresEqualSentenceTransformers) {
  for (const char* backend : {"cpu", "reference"})
    expect_scores(RerankPipeline::load(model_, {.backend = {.places = {BackendPlace::parse(backend)}}}), backend);
}

TEST_P(GenerativeRerankCases, AFolderThatSaysSoIsAReranker) {
  if (case_.find("files") == nullptr) {
    EXPECT_EQ(pipelines::tasks_of(model_), std::vector<pipelines::Task>{pipelines::Task::embed});
    folder_.write("model/model_manifest.json", R"({"type": "reranker"})");
  }
  EXPECT_EQ(pipelines::tasks_of(model_), std::vector<pipelines::Task>{pipelines::Task::rerank});
  EXPECT_EQ(pipelines::check_loadable(model_, runtime::LoadRequest(LoadOptions())).backend, "cpu");
  const pipelines::TaskPipelines pipelines = pipelines::TaskPipelines::load(model_, {});
  EXPECT_GT(pipelines.weight_bytes(), 0U);
  expect_scores(pipelines.reranker(), "served ");
}

INSTANTIATE_TEST_SUITE_P(Cases, GenerativeRerankCases, testing::ValuesIn(case_names()),
                         [](const auto& one) { return one.param; });

TEST_F(GenerativeRerank, QwenHasItsPromptWhereTheFoldersTemplateIsForChats) {
  write("published");
  folder_.write("model/chat_template.jinja",
                "{% for m in messages if m.role in ['user', 'system'] %}{{ m.content }}{% endfor %}");
  expect_scores(RerankPipeline::load(model_), "a template for chats ");
  fs::remove(model_ / "chat_template.jinja");
  expect_scores(RerankPipeline::load(model_), "no template ");
}

TEST_F(GenerativeRerank, OnlyTheDocumentIsCutOrReadInWindows) {
  write("published");
  const RerankPipeline pipeline = RerankPipeline::load(model_);
  const std::string text =
      "the cat sat on a mat, and a quick brown fox went to an old house by the sea, where seven dogs were asleep";
  // What is written around a text: the space before it is part of its first token.
  const std::size_t around = pipeline.rerank(query_, {""}).tokens - 1;
  const std::size_t tokens = pipeline.rerank(query_, {text}, {.long_texts = {.max_length = 512}}).tokens - around;
  const std::size_t room = 20, stride = 5, length = around + room;
  const RerankScores cut = pipeline.rerank(query_, {text}, {.long_texts = {.max_length = length}});
  EXPECT_EQ(cut.tokens, length);
  const RerankScores left =
      pipeline.rerank(query_, {text}, {.long_texts = {.max_length = length, .treatment = LongTexts::cut_left}});
  EXPECT_EQ(left.tokens, length);
  EXPECT_NE(left.scores, cut.scores);
  const RerankScores windows = pipeline.rerank(
      query_, {text}, {.long_texts = {.max_length = length, .treatment = LongTexts::windows, .stride = stride}});
  EXPECT_TRUE(windows.truncated.empty());
  EXPECT_GE(windows.scores[0], cut.scores[0]);  // the first window
  const std::size_t count = (tokens - stride + room - stride - 1) / (room - stride);
  EXPECT_GT(count, 2U);
  EXPECT_EQ(windows.tokens, tokens + (count - 1) * stride + count * around);
  const auto refusal = [&](const LongTextOptions& long_texts) {
    return base::error_of([&] { (void)pipeline.rerank(query_, {text}, {.long_texts = long_texts}); });
  };
  EXPECT_NE(refusal({.max_length = around}).message().find("leaves no room"), std::string::npos);
  EXPECT_NE(refusal({.max_length = length, .treatment = LongTexts::error}).message().find("more than the"),
            std::string::npos);
  EXPECT_NE(refusal({.max_length = length, .treatment = LongTexts::windows, .stride = room}).message().find("stride"),
            std::string::npos);
}

TEST_F(GenerativeRerank, WithoutAWishTextsAreCutAtTheSideThatTheTokenizerStates) {
  write("published");
  const std::string text = "the cat sat on a mat, and a quick brown fox went to an old house by the sea";
  const auto scores = [&](std::optional<LongTexts> treatment) {
    const RerankPipeline pipeline = RerankPipeline::load(model_);
    const std::size_t length = pipeline.rerank(query_, {""}).tokens + 8;
    return pipeline.rerank(query_, {text}, {.long_texts = {.max_length = length, .treatment = treatment}}).scores;
  };
  EXPECT_EQ(scores(std::nullopt), scores(LongTexts::cut));
  const fs::path file = model_ / "tokenizer_config.json";
  Json::Object config;
  if (fs::exists(file)) config = formats::parse_json(base::read_text_file(file), "config").as_object("config");
  config.emplace_back("truncation_side", "left");
  folder_.write("model/tokenizer_config.json", formats::to_json_text(Json(config)));
  EXPECT_EQ(scores(std::nullopt), scores(LongTexts::cut_left));
  EXPECT_NE(scores(std::nullopt), scores(LongTexts::cut));
}

TEST_F(GenerativeRerank, OnlyTheRowsOfTheTokensAreMultiplied) {
  write("own_tokens");
  const RerankPipeline pipeline = RerankPipeline::load(model_);
  std::vector<std::string> names;
  for (const auto& [name, entry_point] : pipeline.model().state().entry_points) {
    names.push_back(name);
    EXPECT_EQ(entry_point->made->numbers_per_row(), 1U);
  }
  EXPECT_EQ(names, std::vector<std::string>{"rerank 7 11"});
}

TEST_F(GenerativeRerank, HostileFoldersAreRefused) {
  write("own_tokens");
  const auto code = [&] { return base::error_of([&] { (void)RerankPipeline::load(model_); }).code(); };
  for (const char* tokens : {R"({"true_token_id": -1})", R"({"true_token_id": 709})", R"({})",
                             R"({"true_token_id": 1, "false_token_id": 4294967296})"}) {
    folder_.write("model/1_LogitScore/config.json", tokens);
    EXPECT_EQ(code(), ErrorCode::corrupt) << tokens;
  }
  fs::remove(model_ / "1_LogitScore/config.json");
  EXPECT_EQ(code(), ErrorCode::not_found);
  folder_.write("model/modules.json",
                R"([{"path": "", "type": "a.Transformer"}, {"path": "../..", "type": "a.LogitScore"}])");
  EXPECT_EQ(code(), ErrorCode::corrupt);
}

// The template is rendered while the model loads.
TEST_F(GenerativeRerank, HostileTemplatesAreErrorsOfTheLoad) {
  write("own_tokens");
  const auto code = [&] { return base::error_of([&] { (void)RerankPipeline::load(model_); }).code(); };
  for (const char* text : {"{{ 'x' * 10000000000 }}", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
                           "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}"}) {
    folder_.write("model/chat_template.jinja", text);
    EXPECT_EQ(code(), ErrorCode::resource_exhausted) << text;
  }
  folder_.write("model/chat_template.jinja",
                "{% set ns = namespace(l=none) %}{% for x in messages if ns.l is none or "
                "ns.l.length < 0 %}{% set ns.l = loop %}{{ x.content }}{% endfor %}");
  EXPECT_NO_THROW((void)RerankPipeline::load(model_));  // it writes no pair, and a Qwen has its own prompt
  folder_.write("model/chat_template.jinja", "{{ messages[0].content }}{{ messages[1].content }}");
  folder_.write("model/sentence_bert_config.json",
                R"({"processing_kwargs": {"chat_template": {"x": ")" + std::string(100000, 'x') + R"("}}})");
  EXPECT_EQ(code(), ErrorCode::resource_exhausted);
}

TEST_F(GenerativeRerank, EmbeddersOfLanguageModelsAreNoRerankers) {
  write("published");
  folder_.write("model/modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
                                          {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  EXPECT_EQ(base::error_of([&] { (void)RerankPipeline::load(model_); }).code(), ErrorCode::unsupported);
}

}  // namespace
}  // namespace alate
