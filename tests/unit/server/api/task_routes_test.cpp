// The routes that classify and compare texts, over a tiny model of natural language inference and a tiny embedder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "alate/classify.h"
#include "tests/golden/tiny_classifiers.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;

std::vector<Route> task_routes() {
  std::vector<Route> routes = native_routes();
  std::ranges::move(tei_routes(), std::back_inserter(routes));
  return routes;
}

class TaskRoutes : public RouteTest {
 protected:
  TaskRoutes() {
    tests::write_tiny_classifier(settings.models_dir / "tiny/nli");
    add("tiny/embedder");
    settings.default_model = "tiny/nli";
  }

  Response post(std::string_view path, const std::string& body) {
    return call(task_routes(), Method::post, path, body);
  }
  Classifications library(std::string_view text, const ClassifyOptions& options = {}) const {
    return ClassifyPipeline::load(settings.models_dir / "tiny/nli").classify({text}, options);
  }
  static void expect_scores(const Json& found, const std::vector<LabelScore>& wanted) {
    const Json::Array& list = found.as_array("scores");
    ASSERT_EQ(list.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(list[i].get_string("label", ""), wanted[i].label);
      EXPECT_EQ(static_cast<float>(list[i].get_double("score", 0)), wanted[i].score);
    }
  }
  void expect_documented(const Response& response, std::string_view path) const {
    const std::vector<Route> routes = task_routes();
    const auto route = std::ranges::find(routes, path, &Route::path);
    const auto violation = Schema::parse(route->answers.front().schema).check(json(response));
    EXPECT_FALSE(violation) << violation->message;
  }
};

TEST_F(TaskRoutes, ClassifyGivesTheLibrarysScores) {
  const Response response = post("/api/classify", R"({"texts": ["where did the cat sit?", "fox"], "top_k": 2})");
  ASSERT_EQ(response.status, 200) << response.body;
  expect_documented(response, "/api/classify");
  const Json body = json(response);
  const Json::Array& found = body.find("classifications")->as_array("classifications");
  ASSERT_EQ(found.size(), 2U);
  expect_scores(found[0], library("where did the cat sit?", {.top_k = 2}).texts[0]);
  const Json given = json(post("/ai/v1/classify", R"({"texts": ["fox"], "labels": ["a", "b"], "multi_label": true,
                                                      "hypothesis_template": "it is {}"})"));
  expect_scores(
      given.find("classifications")->as_array("classifications")[0],
      library("fox", {.labels = {"a", "b"}, .hypothesis_template = "it is {}", .multi_label = true}).texts[0]);
}

TEST_F(TaskRoutes, ALongTextFailsAloneWhereItemsMayFail) {
  std::string text = "fox";
  for (int i = 0; i < 40; ++i) text += " fox";
  const std::string texts = R"({"texts": ["fox", ")" + text + R"("], "long": "error")";
  const Response refused = post("/api/classify", texts + "}");
  EXPECT_EQ(refused.status, 422) << refused.body;
  EXPECT_NE(refused.body.find("texts[1] has more than the 32 tokens"), std::string::npos) << refused.body;
  const Response answered = post("/api/classify", texts + R"(, "on_error": "per_item"})");
  ASSERT_EQ(answered.status, 200) << answered.body;
  expect_documented(answered, "/api/classify");
  const Json body = json(answered);
  const Json::Array& found = body.find("classifications")->as_array("classifications");
  expect_scores(found[0], library("fox").texts[0]);
  EXPECT_EQ(found[1].find("error")->get_string("code", ""), "too_long");
  const Json cut = json(post("/api/classify", R"({"texts": ["fox", ")" + text + R"("]})"));
  EXPECT_EQ(cut.find("truncated")->as_array("truncated").at(0).as_int("index"), 1);
  EXPECT_EQ(json(post("/api/classify", R"({"texts": [")" + text + R"("], "long": "windows", "stride": 2})"))
                .find("truncated"),
            nullptr);
}

TEST_F(TaskRoutes, OptionsThatMeanNothingAreRefused) {
  EXPECT_EQ(post("/api/classify", R"({"texts": ["a"], "labels": ["b"], "hypothesis_template": "none"})").status, 422);
  EXPECT_EQ(post("/api/classify", R"({"texts": ["a"], "long": "cut", "truncate": false})").status, 400);
  EXPECT_EQ(post("/api/classify", R"({"texts": ["a"], "model": "tiny/embedder"})").status, 422);
}

// What labels and templates multiply is counted even where there is no text that they could be read with.
TEST_F(TaskRoutes, AnEmptyListOfTextsSwitchesNoLimitOff) {
  std::string labels;
  for (int i = 0; i < 2049; ++i) labels += (i == 0 ? "\"" : ",\"") + std::to_string(i) + '"';
  const auto expect_refused = [&](const std::string& texts) {
    const Response many = post("/api/classify", R"({"texts": )" + texts + R"(, "labels": [)" + labels + "]}");
    EXPECT_EQ(many.status, 413) << many.body;
    EXPECT_NE(many.body.find("each read 2049 times"), std::string::npos) << many.body;
    const Response large = post("/api/classify", R"({"texts": )" + texts + R"(, "hypothesis_template": "{})" +
                                                     std::string(std::size_t{1} << 20, 'a') + R"(", "labels": [)" +
                                                     labels.substr(0, labels.find(",\"100\"")) + "]}");
    EXPECT_EQ(large.status, 413) << large.body;
    EXPECT_NE(large.body.find("this route takes 67108864"), std::string::npos) << large.body;
  };
  expect_refused("[]");
  expect_refused(R"(["a"])");
  EXPECT_EQ(post("/api/classify", R"({"texts": [], "labels": ["a", "b"]})").status, 200);
}

// Rows wait for the model, so that those of all requests together are bounded.
TEST_F(TaskRoutes, RowsAreChargedToTheirClient) {
  const auto total = std::make_shared<HeldBytes>(1, 1, HeldBytes::Limit{.client = 100'000, .all = 200'000});
  account = ClientAccounts(total).find({});
  EXPECT_EQ(post("/api/classify", R"({"texts": ["fox"]})").status, 200);
  std::string texts = R"("fox")";
  for (int i = 0; i < 1000; ++i) texts += R"(,"fox")";
  const Response large = post("/api/classify", R"({"texts": [)" + texts + "]}");
  EXPECT_EQ(large.status, 413) << large.body;
  EXPECT_NE(large.body.find("this server allows 100000"), std::string::npos) << large.body;
  ByteCharge held(account, ByteCharge::Kind::rows);
  held.raise_to(100'000);
  const Response full = post("/api/classify", R"({"texts": ["fox"]})");
  EXPECT_EQ(full.status, 503) << full.body;
  EXPECT_EQ(header(full, "Retry-After"), "1");
}

TEST_F(TaskRoutes, PredictTakesTextsAndPairs) {
  const Response lone = post("/predict", R"({"inputs": "fox"})");
  ASSERT_EQ(lone.status, 200) << lone.body;
  expect_documented(lone, "/predict");
  expect_scores(json(lone), library("fox").texts[0]);
  EXPECT_EQ(post("/", R"({"inputs": "fox"})").body, lone.body);
  const Response several = post("/predict", R"({"inputs": [["fox"], ["fox", "the cat"]]})");
  expect_documented(several, "/predict");
  const Json lists = json(several);
  ASSERT_EQ(lists.as_array("lists").size(), 2U);
  expect_scores(lists.as_array("lists")[0], library("fox").texts[0]);
  EXPECT_NE(formats::to_json_text(lists.as_array("lists")[0]), formats::to_json_text(lists.as_array("lists")[1]));
  EXPECT_EQ(post("/predict", R"({"inputs": [["a", "b", "c"]]})").status, 422);
}

TEST_F(TaskRoutes, HuggingFacesClientsGetAListForEachTextAndNameLabels) {
  for (const char* path : {"/predict", "/"}) {
    const Response own = post(path, R"({"inputs": "fox", "parameters": {"top_k": 2}})");
    ASSERT_EQ(own.status, 200) << own.body;
    expect_documented(own, path);
    expect_scores(json(own).as_array("lists").at(0), library("fox", {.top_k = 2}).texts[0]);
    const Response none = post(path, R"({"inputs": "fox", "parameters": {"function_to_apply": "none"}})");
    expect_scores(json(none).as_array("lists").at(0), library("fox", {.raw_scores = true}).texts[0]);
    const Response given = post(path, R"({"inputs": "fox", "parameters": {"candidate_labels": ["a", "b"],
                                          "multi_label": true, "hypothesis_template": "it is {}"}})");
    expect_documented(given, path);
    expect_scores(
        json(given),
        library("fox", {.labels = {"a", "b"}, .hypothesis_template = "it is {}", .multi_label = true}).texts[0]);
  }
  EXPECT_EQ(post("/predict", R"({"inputs": "a", "parameters": {"candidate_labels": []}})").status, 422);
}

TEST_F(TaskRoutes, SimilarityComparesEachWithEachOrASourceWithSentences) {
  const Response all = post("/api/similarity", R"({"model": "tiny/embedder", "texts": ["a b", "c", "d e f"]})");
  ASSERT_EQ(all.status, 200) << all.body;
  expect_documented(all, "/api/similarity");
  const Json body = json(all);
  const Json::Array& rows = body.find("similarities")->as_array("rows");
  ASSERT_EQ(rows.size(), 3U);
  const auto at = [&](std::size_t i, std::size_t j) { return rows[i].as_array("row")[j].as_double("number"); };
  EXPECT_NEAR(at(1, 1), 1, 1e-6);
  EXPECT_EQ(at(0, 2), at(2, 0));
  const Json one =
      json(post("/api/similarity", R"({"model": "tiny/embedder", "source": "a b", "sentences": ["c", "d e f"]})"));
  const Json::Array& row = one.find("similarities")->as_array("rows").at(0).as_array("row");
  ASSERT_EQ(row.size(), 2U);
  EXPECT_EQ(row[1].as_double("number"), at(0, 2));
  for (const char* wrong : {R"({"texts": ["a"], "source": "b"})", R"({"source": "a"})", "{}"})
    EXPECT_EQ(post("/api/similarity", wrong).status, 400) << wrong;
}

}  // namespace
}  // namespace alate::server
