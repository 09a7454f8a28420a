// The routes that fill masks, over a tiny masked language model.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "alate/fill.h"
#include "pipelines/fill/fills_json.h"
#include "tests/golden/tiny_fillers.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;

std::vector<Route> fill_routes() {
  std::vector<Route> routes = native_routes();
  std::ranges::move(tei_routes(), std::back_inserter(routes));
  return routes;
}

class FillRoutes : public RouteTest {
 protected:
  FillRoutes() {
    recorded_ = tests::write_tiny_filler(settings.models_dir / "tiny/filler");
    add("tiny/embedder");
    settings.default_model = "tiny/filler";
    for (const std::string& text : recorded_.texts) texts_ += (texts_.empty() ? "[" : ",") + quoted(text);
    texts_ += ']';
  }

  static std::string quoted(const std::string& text) { return formats::to_json_text(Json(text)); }
  Response post(std::string_view path, const std::string& members) {
    return call(fill_routes(), Method::post, path, "{" + members + "}");
  }
  Fills library(const FillOptions& options = {}) const {
    return FillPipeline::load(settings.models_dir / "tiny/filler").fill(recorded_.texts, options);
  }
  static std::string as_json(const Fills& found) {
    std::string out = "[";
    for (const auto& masks : found.texts) out += (out.size() > 1 ? "," : "") + pipelines::fills_json(masks);
    return out + "]";
  }
  static void expect_same(const std::string& found, const std::string& wanted) {
    EXPECT_EQ(found, formats::to_json_text(formats::parse_json(wanted, "wanted")));
  }
  void expect_documented(const Response& response, std::string_view path) const {
    const std::vector<Route> routes = fill_routes();
    const auto route = std::ranges::find(routes, path, &Route::path);
    const auto violation = Schema::parse(route->answers.front().schema).check(json(response));
    EXPECT_FALSE(violation) << violation->message;
  }

  tests::RecordedFiller recorded_;
  std::string texts_;
};

TEST_F(FillRoutes, NativeGivesTheLibrarysTokens) {
  for (const char* path : {"/api/fill", "/ai/v1/fill"}) {
    const Response response = post(path, R"("model":"tiny/filler","texts":)" + texts_);
    ASSERT_EQ(response.status, 200) << response.body;
    expect_same(text(json(response), "fills"), as_json(library()));
    EXPECT_NE(header(response, "X-Model-Fingerprint"), "");
    expect_documented(response, "/api/fill");
  }
  const Response chosen = post("/api/fill", R"("top_k":1,"targets":["the","and"],"texts":)" + texts_);
  ASSERT_EQ(chosen.status, 200) << chosen.body;
  expect_same(text(json(chosen), "fills"), as_json(library({.top_k = 1, .targets = {"the", "and"}})));
}

TEST_F(FillRoutes, WhatCannotBeDoneIsRefused) {
  EXPECT_EQ(post("/api/fill", R"("model":"tiny/embedder","texts":["a"])").status, 422);
  EXPECT_EQ(post("/api/fill", R"("long":"windows","texts":["a"])").status, 422);
  std::string text = "[MASK]";
  for (int i = 0; i < 60; ++i) text += " a";
  const std::string body = R"("long":"error","texts":["a [MASK]",)" + quoted(text) + "]";
  EXPECT_EQ(post("/api/fill", body).status, 422);
  const Response alone = post("/api/fill", R"("on_error":"per_item",)" + body);
  ASSERT_EQ(alone.status, 200) << alone.body;
  EXPECT_NE(json(alone).find("fills")->as_array("fills")[1].find("error"), nullptr);
  expect_documented(alone, "/api/fill");
}

TEST_F(FillRoutes, HuggingFacesClientsGetTokensOfTransformers) {
  const Fills wanted = library({.top_k = 2});
  for (std::size_t i = 0; i < recorded_.texts.size(); ++i) {
    for (const char* path : {"/", "/models/tiny/filler"}) {
      const Response found = post(path, "\"inputs\":" + quoted(recorded_.texts[i]) + R"(,"parameters":{"top_k":2})");
      ASSERT_EQ(found.status, 200) << found.body;
      expect_same(formats::to_json_text(json(found)), pipelines::hugging_face_fills_json(wanted.texts[i]));
      expect_documented(found, "/");
    }
  }
  const Response several = post("/", "\"inputs\":" + texts_ + R"(,"parameters":{"top_k":1,"targets":["the"]})");
  ASSERT_EQ(several.status, 200) << several.body;
  EXPECT_EQ(json(several).as_array("texts").size(), recorded_.texts.size());
  expect_documented(several, "/");
}

TEST_F(FillRoutes, TextsWithoutMasksStillBecomeVectors) {
  const Response vectors = post("/", R"("inputs":"Ada met Charles")");
  ASSERT_EQ(vectors.status, 200) << vectors.body;
  EXPECT_TRUE(json(vectors).as_array("vectors").at(0).is_array());
  EXPECT_EQ(post("/api/embed", R"("input":"Ada [MASK]")").status, 200);
}

TEST_F(FillRoutes, ListingsSayWhatTheModelIsFor) {
  const Json listed = json(call(fill_routes(), Method::get, "/api/models"));
  EXPECT_EQ(text(listed, "fillers"), R"(["tiny/filler"])");
  EXPECT_NE(text(listed, "embedders").find("tiny/filler"), std::string::npos);
}

}  // namespace
}  // namespace alate::server
