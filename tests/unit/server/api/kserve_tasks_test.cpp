// KServe's infer with texts, for the tasks of tiny models.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "alate/answer.h"
#include "alate/classify.h"
#include "alate/extract.h"
#include "alate/recognize.h"
#include "alate/redact.h"
#include "alate/rerank.h"
#include "formats/little_endian.h"
#include "pipelines/answer/answers_json.h"
#include "pipelines/extract/extraction_json.h"
#include "pipelines/recognize/entities_json.h"
#include "tests/golden/tiny_answerers.h"
#include "tests/golden/tiny_classifiers.h"
#include "tests/golden/tiny_extractors.h"
#include "tests/golden/tiny_recognizers.h"
#include "tests/golden/tiny_rerankers.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;

class KserveTasks : public RouteTest {
 protected:
  KserveTasks() {
    tests::write_tiny_reranker(settings.models_dir / "tiny/reranker");
    tests::write_tiny_classifier(settings.models_dir / "tiny/nli");
    tests::write_tiny_recognizer(settings.models_dir / "tiny/recognizer");
    add("tiny/embedder");
  }

  static std::string bytes(std::string_view name, const std::vector<std::string>& texts) {
    Json::Array data(texts.begin(), texts.end());
    return R"({"name":")" + std::string(name) + R"(","datatype":"BYTES","shape":[)" + std::to_string(texts.size()) +
           R"(],"data":)" + formats::to_json_text(Json(std::move(data))) + "}";
  }
  Response infer(const std::string& model, const std::string& inputs, const std::string& more = "") {
    return call(kserve_routes(), Method::post, "/v2/models/" + model + "/infer",
                R"({"inputs":[)" + inputs + "]" + more + "}");
  }
  // An output of an answer that is as the route documents it.
  static Json output(const Response& response, std::string_view name) {
    EXPECT_EQ(response.status, 200) << response.body;
    const Json body = json(response);
    for (const Route& route : kserve_routes()) {
      if (route.id != "kserveInfer") continue;
      const auto violation = Schema::parse(route.answers.front().schema).check(body);
      EXPECT_FALSE(violation) << violation->message;
    }
    for (const Json& one : body.find("outputs")->as_array("outputs")) {
      if (one.get_string("name", "") == name) return one;
    }
    ADD_FAILURE() << "no output " << name << " in " << response.body;
    return {};
  }
  static void expect_shape(const Json& tensor) {
    std::int64_t count = 1;
    for (const Json& extent : tensor.find("shape")->as_array("shape")) count *= extent.as_int("extent");
    EXPECT_EQ(count, static_cast<std::int64_t>(tensor.find("data")->as_array("data").size()));
  }
  static std::vector<float> floats(const Json& tensor) {
    expect_shape(tensor);
    EXPECT_EQ(tensor.get_string("datatype", ""), "FP32");
    std::vector<float> values;
    for (const Json& value : tensor.find("data")->as_array("data"))
      values.push_back(static_cast<float>(value.as_double("value")));
    return values;
  }
  static std::vector<std::string> strings(const Json& tensor) {
    expect_shape(tensor);
    EXPECT_EQ(tensor.get_string("datatype", ""), "BYTES");
    std::vector<std::string> values;
    for (const Json& value : tensor.find("data")->as_array("data")) values.push_back(value.as_string("value"));
    return values;
  }
  std::vector<std::string> names(const std::string& model, const char* list) {
    std::vector<std::string> found;
    const Response facts = call(kserve_routes(), Method::get, "/v2/models/" + model);
    const Json body = json(facts);
    for (const Json& tensor : body.find(list)->as_array(list)) found.push_back(tensor.get_string("name", ""));
    return found;
  }

  const std::vector<std::string> texts_ = {"fox", "the cat sat on the mat."};
};

TEST_F(KserveTasks, RerankHasScoresInTheOrderOfTheTexts) {
  const RerankPipeline library = RerankPipeline::load(settings.models_dir / "tiny/reranker");
  const std::string inputs = bytes("query", {"the cat"}) + "," + bytes("text", texts_);
  EXPECT_EQ(floats(output(infer("tiny/reranker", inputs), "scores")), library.rerank("the cat", texts_).scores);
  EXPECT_EQ(floats(output(infer("tiny/reranker", inputs, R"(,"parameters":{"raw_scores":true})"), "scores")),
            library.rerank("the cat", texts_, {.raw_scores = true}).scores);
  const Response without = infer("tiny/reranker", bytes("text", texts_));
  EXPECT_EQ(without.status, 422) << without.body;
  EXPECT_NE(without.body.find("an input query"), std::string::npos) << without.body;
  EXPECT_EQ(infer("tiny/reranker", bytes("query", texts_) + "," + bytes("text", texts_)).status, 400);
  EXPECT_EQ(infer("tiny/embedder", inputs).status, 422);
}

TEST_F(KserveTasks, ClassifyHasLabelsAndScoresTheBestFirst) {
  const ClassifyPipeline library = ClassifyPipeline::load(settings.models_dir / "tiny/nli");
  const auto expect = [&](const Response& response, const Classifications& wanted) {
    std::vector<float> scores;
    std::vector<std::string> labels;
    for (const auto& text : wanted.texts) {
      for (const LabelScore& one : text) {
        scores.push_back(one.score);
        labels.push_back(one.label);
      }
    }
    EXPECT_EQ(floats(output(response, "scores")), scores);
    EXPECT_EQ(strings(output(response, "labels")), labels);
    EXPECT_EQ(formats::to_json_text(*output(response, "labels").find("shape")),
              "[2," + std::to_string(labels.size() / 2) + "]");
  };
  expect(infer("tiny/nli", bytes("text", texts_)), library.classify(texts_));
  expect(infer("tiny/nli", bytes("text", texts_) + "," + bytes("labels", {"a", "b"}),
               R"(,"parameters":{"multi_label":true})"),
         library.classify(texts_, {.labels = {"a", "b"}, .multi_label = true}));
}

TEST_F(KserveTasks, RecognizeAndRedactHaveJsonAndTexts) {
  const RecognizePipeline library = RecognizePipeline::load(settings.models_dir / "tiny/recognizer");
  std::vector<std::string> lists;
  for (const auto& entities : library.recognize(texts_).texts) lists.push_back(pipelines::entities_json(entities));
  EXPECT_EQ(strings(output(infer("tiny/recognizer", bytes("text", texts_)), "entities")), lists);
  const Response redacted = infer("tiny/recognizer", bytes("text", texts_), R"(,"parameters":{"task":"redact"})");
  EXPECT_EQ(strings(output(redacted, "redacted_text")),
            redact(library, std::vector<std::string_view>(texts_.begin(), texts_.end())).texts);
  const Response some = infer("tiny/recognizer", bytes("text", texts_),
                              R"(,"parameters":{"task":"redact"},"outputs":[{"name":"entities"}])");
  EXPECT_EQ(json(some).find("outputs")->as_array("outputs").size(), 1U);
}

TEST_F(KserveTasks, AnswersAreJson) {
  tests::write_tiny_answerer(settings.models_dir / "tiny/answerer");
  const AnswerPipeline library = AnswerPipeline::load(settings.models_dir / "tiny/answerer");
  std::vector<std::string> lists;
  for (const auto& answers : library.answer("where is the cat?", texts_).texts)
    lists.push_back(pipelines::answers_json(answers));
  const std::string inputs = bytes("question", {"where is the cat?"}) + "," + bytes("text", texts_);
  EXPECT_EQ(strings(output(infer("tiny/answerer", inputs), "answers")), lists);
  EXPECT_EQ(infer("tiny/answerer", bytes("text", texts_)).status, 400);
}

TEST_F(KserveTasks, ExtractionTakesASchema) {
  tests::write_tiny_extractor(settings.models_dir / "tiny/extractor", "experts");
  const ExtractPipeline library = ExtractPipeline::load(settings.models_dir / "tiny/extractor");
  const std::string schema = R"({"person": ["name::str"], "entities": ["city"]})";
  std::vector<std::string> results;
  for (const Extraction& each : library.extract(texts_, ExtractSchema::parse(schema)).texts)
    results.push_back(pipelines::extraction_json(each, {}));
  const std::string inputs = bytes("schema", {schema}) + "," + bytes("text", texts_);
  EXPECT_EQ(strings(output(infer("tiny/extractor", inputs), "results")), results);
  EXPECT_EQ(infer("tiny/extractor", bytes("text", texts_)).status, 400);
  EXPECT_EQ(infer("tiny/extractor", bytes("schema", {"{"}) + "," + bytes("text", texts_)).status, 400);
}

TEST_F(KserveTasks, TextsGoOutAsBinaryDataToo) {
  const std::string plain = infer("tiny/nli", bytes("text", {"fox"})).body;
  const Response response = infer("tiny/nli", bytes("text", {"fox"}), R"(,"parameters":{"binary_data_output":true})");
  ASSERT_EQ(response.status, 200) << response.body;
  const std::size_t head = std::stoul(header(response, "Inference-Header-Content-Length"));
  std::string_view rest = std::string_view(response.body).substr(head);
  std::vector<std::string> labels;
  for (int i = 0; i < 3; ++i) {
    const auto size = formats::load_little_endian<std::uint32_t>(std::as_bytes(std::span(rest)));
    labels.emplace_back(rest.substr(4, size));
    rest.remove_prefix(4 + size);
  }
  EXPECT_EQ(rest.size(), 3 * sizeof(float));
  EXPECT_EQ(labels, strings(output(infer("tiny/nli", bytes("text", {"fox"})), "labels")));
}

TEST_F(KserveTasks, WrongInputsAndTasksAreRefused) {
  const std::string text = bytes("text", {"a"});
  const std::string ids = R"({"name":"text","datatype":"INT64","shape":[1],"data":[1]})";
  EXPECT_EQ(infer("tiny/nli", ids).status, 400);
  EXPECT_EQ(infer("tiny/nli", R"({"name":"text","datatype":"BYTES","shape":[1,2],"data":["a","b"]})").status, 400);
  EXPECT_EQ(infer("tiny/recognizer", text + "," + bytes("labels", {"a"})).status, 400);
  EXPECT_EQ(infer("tiny/nli", text, R"(,"parameters":{"task":"recognize"})").status, 422);
  EXPECT_EQ(infer("tiny/nli", text, R"(,"outputs":[{"name":"entities"}])").status, 400);
}

TEST_F(KserveTasks, MetadataNamesTheTensorsOfTheTasks) {
  using Names = std::vector<std::string>;
  const auto front = [](Names all, std::size_t count) {
    all.resize(count);
    return all;
  };
  EXPECT_EQ(front(names("tiny/reranker", "inputs"), 2), (Names{"text", "query"}));
  EXPECT_EQ(front(names("tiny/reranker", "outputs"), 1), Names{"scores"});
  EXPECT_EQ(front(names("tiny/nli", "outputs"), 2), (Names{"labels", "scores"}));
  EXPECT_EQ(front(names("tiny/recognizer", "outputs"), 2), (Names{"entities", "redacted_text"}));
  EXPECT_EQ(front(names("tiny/embedder", "outputs"), 1), Names{"sentence_embedding"});
}

}  // namespace
}  // namespace alate::server
