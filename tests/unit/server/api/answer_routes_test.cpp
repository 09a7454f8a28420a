// The routes that answer questions, over a tiny model.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "alate/answer.h"
#include "pipelines/answer/answers_json.h"
#include "tests/golden/tiny_answerers.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;

std::vector<Route> answer_routes() {
  std::vector<Route> routes = native_routes();
  std::ranges::move(tei_routes(), std::back_inserter(routes));
  return routes;
}

class AnswerRoutes : public RouteTest {
 protected:
  AnswerRoutes() {
    recorded_ = tests::write_tiny_answerer(settings.models_dir / "tiny/answerer");
    add("tiny/embedder");
    settings.default_model = "tiny/answerer";
  }

  Response post(std::string_view path, const std::string& members) {
    return call(answer_routes(), Method::post, path, "{" + members + "}");
  }
  // The body of a question to a text for Hugging Face's clients.
  std::string inputs(const std::string& more = "") const {
    return R"("inputs":{"question":"Who met?","context":)" + quoted(recorded_.texts.front()) + "}" + more;
  }
  std::string texts() const {
    std::string list = "[";
    for (const std::string& text : recorded_.texts) list += (list.size() > 1 ? "," : "") + quoted(text);
    return list + "]";
  }
  static std::string quoted(const std::string& text) { return formats::to_json_text(Json(text)); }
  Answers library(const AnswerOptions& options = {}) const {
    return AnswerPipeline::load(settings.models_dir / "tiny/answerer").answer("Who met?", recorded_.texts, options);
  }
  static void expect_same(const std::string& found, const std::string& wanted) {
    EXPECT_EQ(found, formats::to_json_text(formats::parse_json(wanted, "wanted")));
  }
  static std::string as_json(const Answers& found) {
    std::string out = "[";
    for (const std::vector<Answer>& answers : found.texts)
      out += (out.size() > 1 ? "," : "") + pipelines::answers_json(answers);
    return out + "]";
  }
  void expect_documented(const Response& response, std::string_view path) const {
    const std::vector<Route> routes = answer_routes();
    const auto route = std::ranges::find(routes, path, &Route::path);
    const auto violation = Schema::parse(route->answers.front().schema).check(json(response));
    EXPECT_FALSE(violation) << violation->message;
  }

  tests::RecordedAnswerer recorded_;
};

TEST_F(AnswerRoutes, NativeGivesTheLibrarysAnswers) {
  for (const char* path : {"/api/answer", "/ai/v1/answer"}) {
    const Response response = post(path, R"("model":"tiny/answerer","question":"Who met?","texts":)" + texts());
    ASSERT_EQ(response.status, 200) << response.body;
    expect_same(text(json(response), "answers"), as_json(library()));
    EXPECT_EQ(text(json(response), "truncated"), "absent");
    EXPECT_NE(header(response, "X-Model-Fingerprint"), "");
    expect_documented(response, "/api/answer");
  }
}

TEST_F(AnswerRoutes, NativePassesItsOptionsOn) {
  AnswerOptions options{.top_k = 4, .max_answer_length = 2, .no_answer = true, .align_to_words = false};
  options.long_texts.treatment = LongTexts::cut;
  const Response response = post(
      "/api/answer",
      R"("question":"Who met?","top_k":4,"max_answer_length":2,"no_answer":true,"align_to_words":false,"long":"cut","texts":)" +
          texts());
  ASSERT_EQ(response.status, 200) << response.body;
  expect_same(text(json(response), "answers"), as_json(library(options)));
  EXPECT_NE(text(json(response), "truncated"), "absent");
  EXPECT_EQ(post("/api/answer", R"("question":"a","model":"tiny/embedder","texts":["a"])").status, 422);
  std::string long_question;
  for (int i = 0; i < 40; ++i) long_question += "who ";
  const Response refused = post("/api/answer", R"("texts":["a"],"question":")" + long_question + "\"");
  EXPECT_EQ(refused.status, 422);
  EXPECT_NE(refused.body.find("leaves no room"), std::string::npos) << refused.body;
}

TEST_F(AnswerRoutes, AnItemThatFailsIsAnErrorInItsPlace) {
  const Response found = post("/api/answer", R"("question":"Who?","long":"error","on_error":"per_item","texts":["a",)" +
                                                 quoted(recorded_.texts.back()) + "]");
  ASSERT_EQ(found.status, 200) << found.body;
  EXPECT_NE(json(found).find("answers")->as_array("answers")[1].find("error"), nullptr);
  expect_documented(found, "/api/answer");
}

TEST_F(AnswerRoutes, HuggingFacesClientsGetAnswersOfTransformers) {
  for (const char* path : {"/", "/models/tiny/answerer"}) {
    const Response one = post(path, inputs());
    ASSERT_EQ(one.status, 200) << path << one.body;
    expect_same(formats::to_json_text(json(one)), pipelines::hugging_face_answers_json(library().texts.front()));
    EXPECT_TRUE(json(one).is_object());
    expect_documented(one, "/");
  }
  AnswerOptions options{.top_k = 3, .max_answer_length = 3, .no_answer = true, .align_to_words = false};
  options.long_texts = {.max_length = 20, .stride = 3};
  const Response several = post(
      "/",
      inputs(R"(,"parameters":{"top_k":3,"max_answer_len":3,"handle_impossible_answer":true,"align_to_words":false,)"
             R"("max_seq_len":20,"doc_stride":3,"max_question_len":9})"));
  ASSERT_EQ(several.status, 200) << several.body;
  expect_same(formats::to_json_text(json(several)), pipelines::hugging_face_answers_json(library(options).texts[0]));
  EXPECT_EQ(json(several).as_array("answers").size(), 3U);
  expect_documented(several, "/");
  EXPECT_EQ(post("/", R"("inputs":{"question":"","context":"a"})").status, 422);
  EXPECT_EQ(post("/models/tiny/embedder", inputs()).status, 422);
}

TEST_F(AnswerRoutes, ListingsSayWhatTheModelIsFor) {
  EXPECT_EQ(text(json(call(answer_routes(), Method::get, "/api/models")), "answerers"), R"(["tiny/answerer"])");
  EXPECT_EQ(text(json(call(answer_routes(), Method::get, "/info")), "model_type"), R"({"answerer":{}})");
  const Response vectors = post("/api/embed", R"("input":"a")");
  EXPECT_EQ(vectors.status, 422);
  EXPECT_NE(vectors.body.find("is a model for question answering"), std::string::npos) << vectors.body;
}

}  // namespace
}  // namespace alate::server
