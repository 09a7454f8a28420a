// RerankPipeline against sentence-transformers' CrossEncoder: tests/golden/record_cross_encoders.py.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "alate/rerank.h"
#include "pipelines/task_pipelines.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

namespace fs = std::filesystem;
using formats::Json;

Json recorded() {
  const fs::path file = tests::recorded_rerankers() / "cross_encoders.json";
  return formats::parse_json(base::read_text_file(file), file.string());
}

std::vector<std::string> case_names() {
  const Json all = recorded();
  std::vector<std::string> names;
  for (const Json& one : all.find("cases")->as_array("cases")) names.push_back(one.get_string("name", ""));
  return names;
}

// An object with the members of another, which replace those of the same names.
Json merged(const Json& object, const Json* over) {
  Json::Object members = object.as_object("object");
  if (over == nullptr) return members;
  for (const auto& [name, value] : over->as_object("object")) {
    std::erase_if(members, [&](const auto& member) { return member.first == name; });
    members.emplace_back(name, value);
  }
  return members;
}

class CrossEncoder : public testing::TestWithParam<std::string> {
 protected:
  CrossEncoder() {
    for (const Json& one : all_.find("cases")->as_array("cases")) {
      if (one.get_string("name", "") == GetParam()) case_ = one;
    }
    const fs::path bert = tests::golden_folder("rerankers/bert"), changed = folder_.path() / "recorded";
    fs::copy(bert, changed);
    const auto read = [&](const char* name) { return formats::parse_json(base::read_text_file(bert / name), name); };
    folder_.write("recorded/config.json", formats::to_json_text(merged(read("config.json"), case_.find("config"))));
    const Json shapes = read("shapes.json");
    const Json over(Json::Object{{"shapes", merged(*shapes.find("shapes"), case_.find("shapes"))}});
    folder_.write("recorded/shapes.json", formats::to_json_text(merged(shapes, &over)));
    tests::write_tiny_model(changed, model_);
    if (const Json* files = case_.find("settings")) {
      for (const auto& [name, content] : files->as_object("settings"))
        folder_.write("model/" + name, formats::to_json_text(content));
    }
  }

  base::TemporaryFolder folder_;
  const fs::path model_ = folder_.path() / "model";
  const Json all_ = recorded();
  Json case_;
};

TEST_P(CrossEncoder, ScoresEqualSentenceTransformers) {
  RerankOptions options{.model_scores = true, .prompt_name = case_.get_string("prompt_name", "")};
  if (const Json* prompt = case_.find("prompt")) options.prompt = prompt->as_string("prompt");
  if (const std::int64_t stride = case_.get_int("stride", -1); stride >= 0) {
    options.model_scores = false;
    options.raw_scores = true;
    options.long_texts = {.treatment = LongTexts::windows, .stride = static_cast<std::size_t>(stride)};
  }
  std::vector<std::string> texts;
  for (const Json& text : all_.find("texts")->as_array("texts")) texts.push_back(text.as_string("text"));
  for (const char* backend : {"cpu", "reference"}) {
    const RerankPipeline pipeline =
        RerankPipeline::load(model_, {.backend = {.places = {BackendPlace::parse(backend)}}});
    const RerankScores found = pipeline.rerank(all_.get_string("query", ""), texts, options);
    const Json::Array& wanted = case_.find("scores")->as_array("scores");
    ASSERT_EQ(found.scores.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_NEAR(found.scores[i], wanted[i].as_double("score"), 1e-5) << i << " on " << backend;
  }
}

TEST_P(CrossEncoder, IsARerankerAndNothingElse) {
  EXPECT_EQ(pipelines::TaskPipelines::load(model_, {}).tasks().front(),
            case_.find("shapes") == nullptr ? pipelines::Task::rerank : pipelines::Task::classify);
  EXPECT_EQ(pipelines::tasks_of(model_).size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Cases, CrossEncoder, testing::ValuesIn(case_names()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace alate
