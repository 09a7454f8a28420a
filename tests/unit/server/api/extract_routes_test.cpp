// The routes to extract, over a tiny GLiNER2 model, and what else such a model does.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "alate/extract.h"
#include "alate/recognize.h"
#include "pipelines/extract/extraction_json.h"
#include "pipelines/recognize/entities_json.h"
#include "server/schema/schema.h"
#include "tests/golden/tiny_extractors.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;

class ExtractRoutes : public RouteTest {
 protected:
  ExtractRoutes() {
    recorded_ = tests::write_tiny_extractor(settings.models_dir / "tiny/extractor", "lstm_v2");
    for (const std::string& text : recorded_.texts)
      texts_ += (texts_.empty() ? "[" : ",") + formats::to_json_text(Json(text));
    texts_ += ']';
  }
  Response post(std::string_view path, const std::string& members) {
    return call(native_routes(), Method::post, path, R"({"model":"tiny/extractor",)" + members + "}");
  }
  std::string library(const std::string& schema, const ExtractOptions& options,
                      const pipelines::ExtractionForm& form) const {
    const ExtractPipeline pipeline = ExtractPipeline::load(settings.models_dir / "tiny/extractor");
    std::string out = "[";
    for (const Extraction& each : pipeline.extract(recorded_.texts, ExtractSchema::parse(schema), options).texts)
      out += (out.size() > 1 ? "," : "") + pipelines::extraction_json(each, form);
    return formats::to_json_text(formats::parse_json(out + "]", "library"));
  }

  tests::RecordedExtractor recorded_;
  std::string texts_;
};

TEST_F(ExtractRoutes, ResultsAreTheLibrarys) {
  const std::string schema = recorded_.runs.back().schema;
  for (const char* path : {"/api/extract", "/ai/v1/extract"}) {
    const Response response =
        post(path, R"("texts":)" + texts_ + R"(,"schema":)" + schema + R"(,"threshold":0.55,"include_spans":true)");
    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(text(json(response), "results"), library(schema, {.threshold = 0.55F}, {.spans = true}));
    EXPECT_NE(header(response, "X-Model-Fingerprint"), "");
  }
  const Response plain = post("/api/extract", R"("texts":)" + texts_ + R"(,"schema":)" + schema);
  EXPECT_EQ(text(json(plain), "results"), library(schema, {}, {}));
}

TEST_F(ExtractRoutes, WhatCannotBeDoneIsRefused) {
  const auto status = [&](const std::string& members) { return post("/api/extract", members).status; };
  EXPECT_EQ(status(R"("texts":["a"],"schema":{})"), 422);
  EXPECT_EQ(status(R"("texts":["a"],"schema":{"a":["b","b"]})"), 422);
  std::string many = R"("texts":["a"],"schema":{"a":["0")";
  for (int i = 1; i < 3000; ++i) many += ",\"" + std::to_string(i) + '"';
  EXPECT_EQ(status(many + "]}"), 422);
  add("tiny/embedder");
  EXPECT_EQ(call(native_routes(), Method::post, "/api/extract",
                 R"({"model":"tiny/embedder","texts":["a"],"schema":{"a":["b"]}})")
                .status,
            422);
}

TEST_F(ExtractRoutes, WhatTheBodyMustHaveIsInItsSchema) {
  const std::vector<Route> routes = native_routes();
  const auto route = std::ranges::find(routes, "/api/extract", &Route::path);
  ASSERT_NE(route, routes.end());
  const Schema schema = Schema::parse(route->body);
  const auto is_refused = [&](const char* body) { return schema.check(formats::parse_json(body, "body")).has_value(); };
  EXPECT_TRUE(is_refused(R"({"texts":["a"]})"));
  EXPECT_TRUE(is_refused(R"({"texts":["a"],"schema":[]})"));
  EXPECT_TRUE(is_refused(R"({"schema":{"a":["b"]}})"));
  EXPECT_TRUE(is_refused(R"({"texts":["a"],"schema":{"a":["b"]},"threshold":2})"));
  EXPECT_FALSE(is_refused(R"({"texts":["a"],"schema":{"a":["b"]},"threshold":0.2})"));
}

TEST_F(ExtractRoutes, ATextThatFailsIsAnErrorInItsPlace) {
  std::string longest;
  for (int i = 0; i < 2000; ++i) longest += "word ";
  const Response response = post("/api/extract", R"("texts":["Ada",")" + longest +
                                                     R"("],"schema":{"entities":["person"]},"long":"error",)"
                                                     R"("on_error":"per_item")");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_NE(json(response).find("results")->as_array("results")[1].find("error"), nullptr);
}

TEST_F(ExtractRoutes, SuchAModelRecognizesToo) {
  const Response response =
      post("/api/recognize", R"("texts":)" + texts_ + R"(,"labels":["person","city"],"threshold":0.3)");
  ASSERT_EQ(response.status, 200) << response.body;
  const RecognizePipeline pipeline = RecognizePipeline::load(settings.models_dir / "tiny/extractor");
  const Recognitions found = pipeline.recognize(recorded_.texts, {.labels = {"person", "city"}, .threshold = 0.3F});
  std::string wanted = "[";
  std::size_t count = 0;
  for (const std::vector<Entity>& entities : found.texts) {
    wanted += (wanted.size() > 1 ? "," : "") + pipelines::entities_json(entities);
    count += entities.size();
    for (std::size_t i = 1; i < entities.size(); ++i) EXPECT_LE(entities[i - 1].end, entities[i].start);
  }
  EXPECT_GT(count, 0U);
  EXPECT_EQ(text(json(response), "entities"), formats::to_json_text(formats::parse_json(wanted + "]", "wanted")));
  EXPECT_EQ(post("/api/recognize", R"("texts":["a"])").status, 422);
}

}  // namespace
}  // namespace alate::server
