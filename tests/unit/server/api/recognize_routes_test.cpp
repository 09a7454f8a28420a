// The routes to recognize and redact, over a tiny recognizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "alate/recognize.h"
#include "alate/redact.h"
#include "base/files/mapped_file.h"
#include "pipelines/recognize/entities_json.h"
#include "tests/golden/tiny_gliner.h"
#include "tests/golden/tiny_recognizers.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;

std::vector<Route> all_routes() {
  std::vector<Route> routes = native_routes();
  std::ranges::move(tei_routes(), std::back_inserter(routes));
  return routes;
}

class RecognizeRoutes : public RouteTest {
 protected:
  RecognizeRoutes() {
    recorded_ = tests::write_tiny_recognizer(settings.models_dir / "tiny/recognizer");
    add("tiny/embedder");
    settings.default_model = "tiny/recognizer";
    for (const std::string& text : recorded_.texts)
      texts_ += (texts_.empty() ? "[" : ",") + formats::to_json_text(Json(text));
    texts_ += ']';
  }

  Response post(std::string_view path, const std::string& members) {
    return call(all_routes(), Method::post, path, "{" + members + "}");
  }
  Recognitions library(const RecognizeOptions& options = {}) const {
    return RecognizePipeline::load(settings.models_dir / "tiny/recognizer").recognize(recorded_.texts, options);
  }
  static std::string as_json(const Recognitions& found) {
    std::string out = "[";
    for (const std::vector<Entity>& entities : found.texts)
      out += (out.size() > 1 ? "," : "") + pipelines::entities_json(entities);
    return out + "]";
  }
  static void expect_same(const std::string& found, const std::string& wanted) {
    EXPECT_EQ(found, formats::to_json_text(formats::parse_json(wanted, "wanted")));
  }
  void expect_documented(const Response& response, std::string_view path) const {
    for (const Route& each : all_routes()) {
      if (each.path != path) continue;
      const auto violation = Schema::parse(each.answers.front().schema).check(json(response));
      EXPECT_FALSE(violation) << violation->message;
      return;
    }
    ADD_FAILURE() << "no route " << path;
  }

  tests::RecordedRecognizer recorded_;
  std::string texts_;
};

TEST_F(RecognizeRoutes, NativeGivesTheLibrarysEntities) {
  for (const char* path : {"/api/recognize", "/ai/v1/recognize"}) {
    const Response response = post(path, R"("model":"tiny/recognizer","texts":)" + texts_);
    ASSERT_EQ(response.status, 200) << response.body;
    const Json answer = json(response);
    expect_same(text(answer, "entities"), as_json(library()));
    EXPECT_EQ(text(answer, "model"), R"("tiny/recognizer")");
    EXPECT_EQ(text(answer, "truncated"), "absent");
    EXPECT_NE(header(response, "X-Model-Fingerprint"), "");
    expect_documented(response, "/api/recognize");
  }
}

TEST_F(RecognizeRoutes, AGlinerModelLooksForTheLabelsOfTheRequest) {
  const tests::RecordedGliner gliner = tests::write_tiny_gliner(settings.models_dir / "tiny/gliner", "spans");
  const auto recognizer = RecognizePipeline::load(settings.models_dir / "tiny/gliner");
  const RecognizeOptions options{.labels = {"city", "person"}, .threshold = 0.75F, .nested = true, .multi_label = true};
  const std::string asked = R"("model":"tiny/gliner","texts":[)" + formats::to_json_text(Json(gliner.texts[0])) + "]";
  const Response response = post(
      "/api/recognize", asked + R"(,"labels":["city","person"],"threshold":0.75,"nested":true,"multi_label":true)");
  ASSERT_EQ(response.status, 200) << response.body;
  const Recognitions wanted = recognizer.recognize({gliner.texts[0]}, options);
  ASSERT_FALSE(wanted.texts[0].empty());
  expect_same(text(json(response), "entities"), as_json(wanted));
  expect_documented(response, "/api/recognize");
  EXPECT_EQ(post("/api/recognize", asked).status, 422);
  const Response nested = post("/api/recognize", R"("model":"tiny/recognizer","texts":["a"],"nested":true)");
  EXPECT_EQ(nested.status, 422) << nested.body;
  EXPECT_NE(nested.body.find("GLiNER"), std::string::npos);
}

TEST_F(RecognizeRoutes, NativePassesItsOptionsOn) {
  RecognizeOptions options{.aggregation = Aggregation::average, .labels = {"PER"}};
  options.long_texts.treatment = LongTexts::cut;
  const Response response =
      post("/api/recognize", R"("aggregation":"average","labels":["PER"],"long":"cut","texts":)" + texts_);
  ASSERT_EQ(response.status, 200) << response.body;
  expect_same(text(json(response), "entities"), as_json(library(options)));
  EXPECT_EQ(text(json(response), "truncated"), "[3,4]");
  EXPECT_EQ(post("/api/recognize", R"("labels":["ORG"],"texts":["a"])").status, 422);
  EXPECT_EQ(post("/api/recognize", R"("model":"tiny/embedder","texts":["a"])").status, 422);
}

TEST_F(RecognizeRoutes, AnItemThatFailsIsAnErrorInItsPlace) {
  const std::string body = R"("long":"error","on_error":"per_item","texts":["a",)" +
                           formats::to_json_text(Json(recorded_.texts.back())) + "]";
  const Response found = post("/api/recognize", body),
                 redacted = post("/api/redact", R"("model":"recognizer",)" + body);
  ASSERT_EQ(found.status, 200) << found.body;
  EXPECT_NE(json(found).find("entities")->as_array("entities")[1].find("error"), nullptr);
  expect_documented(found, "/api/recognize");
  ASSERT_EQ(redacted.status, 200) << redacted.body;
  EXPECT_NE(json(redacted).find("texts")->as_array("texts")[1].find("error"), nullptr);
  EXPECT_EQ(redacted.body.find("Alate & Sons"), std::string::npos) << redacted.body;
  expect_documented(redacted, "/api/redact");
}

TEST_F(RecognizeRoutes, RedactReplacesEntities) {
  const RecognizePipeline pipeline = RecognizePipeline::load(settings.models_dir / "tiny/recognizer");
  for (const bool pseudonyms : {false, true}) {
    const std::vector<std::string_view> texts(recorded_.texts.begin(), recorded_.texts.end());
    const Redactions wanted = redact(pipeline, texts, {.pseudonyms = pseudonyms});
    const Response response = post("/api/redact", std::string(R"("model":"recognizer","pseudonyms":)") +
                                                      (pseudonyms ? "true" : "false") + ",\"texts\":" + texts_);
    ASSERT_EQ(response.status, 200) << response.body;
    const Json answer = json(response);
    const Json::Array& found = answer.find("texts")->as_array("texts");
    ASSERT_EQ(found.size(), wanted.texts.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].as_string("text"), wanted.texts[i]);
    expect_same(text(answer, "entities"), as_json({.texts = wanted.entities, .truncated = {}}));
    expect_documented(response, "/api/redact");
  }
  EXPECT_EQ(post("/api/redact", R"("model":"recognizer","long":"cut","texts":["a"])").status, 422);
}

TEST_F(RecognizeRoutes, HuggingFacesClientsGetEntitiesOfTransformers) {
  const std::string sentence = formats::to_json_text(Json(recorded_.texts.front()));
  for (const char* path : {"/", "/models/tiny/recognizer", "/predict"}) {
    const Response lone = post(path, "\"inputs\":" + sentence);
    ASSERT_EQ(lone.status, 200) << path << lone.body;
    expect_same(formats::to_json_text(json(lone)), pipelines::hugging_face_entities_json(library().texts.front()));
    expect_documented(lone, std::string_view(path) == "/predict" ? "/predict" : "/");
  }
  const Response tokens =
      post("/", "\"inputs\":" + texts_ +
                    R"(,"parameters":{"aggregation_strategy":"none","ignore_labels":["I-PER"],"stride":3})");
  ASSERT_EQ(tokens.status, 200) << tokens.body;
  const Json answer = json(tokens);
  ASSERT_EQ(answer.as_array("texts").size(), recorded_.texts.size());
  for (const Json& entities : answer.as_array("texts")) {
    for (const Json& entity : entities.as_array("entities")) {
      EXPECT_NE(text(entity, "entity"), R"("I-PER")");
      EXPECT_NE(text(entity, "index"), "absent");
    }
  }
}

TEST_F(RecognizeRoutes, WithoutAnAggregationItIsTheModelsOwn) {
  const std::filesystem::path config = settings.models_dir / "tiny/recognizer/config.json";
  std::string stated = base::read_text_file(config);
  stated.insert(stated.rfind('}'),
                R"(,"task_specific_params":{"token-classification":{"aggregation_strategy":"max"}})");
  std::ofstream(config, std::ios::binary) << stated;
  const Recognitions own = library({.aggregation = Aggregation::max});
  ASSERT_NE(as_json(own), as_json(library({.aggregation = Aggregation::simple})));
  const Response native = post("/api/recognize", "\"texts\":" + texts_);
  ASSERT_EQ(native.status, 200) << native.body;
  expect_same(text(json(native), "entities"), as_json(own));
  const std::string sentence = formats::to_json_text(Json(recorded_.texts.front()));
  const std::string of_own = pipelines::hugging_face_entities_json(own.texts.front());
  for (const std::string more : {"", R"(,"parameters":{"stride":3})", R"(,"parameters":{"aggregation_strategy":null})"})
    expect_same(formats::to_json_text(json(post("/", "\"inputs\":" + sentence + more))), of_own);
}

TEST_F(RecognizeRoutes, ListingsSayWhatTheModelIsFor) {
  const Response listed = call(all_routes(), Method::get, "/api/models");
  EXPECT_EQ(text(json(listed), "recognizers"), R"(["tiny/recognizer"])");
  EXPECT_NE(text(json(call(all_routes(), Method::get, "/info")), "model_type").find("recognizer"), std::string::npos);
}

}  // namespace
}  // namespace alate::server
