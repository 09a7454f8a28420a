// OpenAI's generating routes over a tiny language model.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/server/api/generating_routes.h"

namespace alate::server {
namespace {

using formats::Json;

class OpenAiGenerationRoutes : public GeneratingRouteTest {
 protected:
  Response post(std::string_view path, const std::string& members) {
    return call(openai_routes(), Method::post, path, R"({"seed":3,)" + members + "}");
  }
  // The first choice of an answer, which fits the route's schema.
  Json choice(std::string_view path, const std::string& members) {
    const Response response = post(path, members);
    EXPECT_EQ(response.status, 200) << response.body;
    expect_documented(path, response);
    const Json made = json(response);
    const Json* choices = made.find("choices");
    return choices == nullptr ? Json() : choices->as_array("choices").front();
  }
  static void expect_documented(std::string_view path, const Response& response) {
    for (const Route& route : openai_routes()) {
      if (route.path != path) continue;
      const auto violation = Schema::parse(route.answers.front().schema).check(json(response));
      EXPECT_FALSE(violation) << violation->message << "\n" << response.body;
    }
  }
  void expect_refused(std::string_view path, const std::string& members, std::string_view parameter,
                      std::string_view code = "null") {
    const Response response = post(path, members);
    EXPECT_EQ(response.status, 400) << members << response.body;
    const Json error = *json(response).find("error");
    EXPECT_EQ(text(error, "param"), parameter) << response.body;
    EXPECT_EQ(text(error, "code"), code) << response.body;
  }
};

constexpr const char* kChat = "/v1/chat/completions";
constexpr const char* kCompletions = "/v1/completions";
constexpr const char* kResponses = "/v1/responses";
const std::string kMessages = R"("messages":[{"role":"user","content":"w4 w5"}])";

TEST_F(OpenAiGenerationRoutes, AChatIsThePromptThatItsTemplateWrites) {
  // "w1 w4 w5 w3 " by the template of the model, continued.
  const Json chat = choice(kChat, kMessages + R"(,"max_tokens":6)");
  const Json text = choice(kCompletions, R"("prompt":"w1 w4 w5 w3","max_tokens":6)");
  EXPECT_EQ(chat.find("message")->get_string("content", ""), text.get_string("text", "absent"));
  EXPECT_EQ(chat.get_string("finish_reason", ""), "length");
}

TEST_F(OpenAiGenerationRoutes, UsageIsCounted) {
  const Response response = post(kChat, kMessages + R"(,"max_completion_tokens":6,"n":2)");
  const Json usage = *json(response).find("usage");
  EXPECT_EQ(text(usage, "prompt_tokens"), "4");
  EXPECT_EQ(text(usage, "completion_tokens"), "12");
  EXPECT_EQ(text(usage, "total_tokens"), "16");
}

TEST_F(OpenAiGenerationRoutes, AStreamHasTheSameText) {
  const std::string whole = choice(kChat, kMessages + R"(,"max_tokens":6)").find("message")->get_string("content", "");
  const Response response =
      post(kChat, kMessages + R"(,"max_tokens":6,"stream":true,"stream_options":{"include_usage":true})");
  EXPECT_EQ(response.content_type, "text/event-stream");
  const std::string stream = body_of(response);
  std::string made;
  std::size_t at = 0;
  for (std::size_t end = stream.find("\n\n"); end != std::string::npos; at = end + 2, end = stream.find("\n\n", at)) {
    const std::string data = stream.substr(at + 6, end - at - 6);
    if (data == "[DONE]") break;
    const Json chunk = formats::parse_json(data, "a chunk");
    for (const Json& each : chunk.find("choices")->as_array("choices"))
      made += each.find("delta")->get_string("content", "");
  }
  EXPECT_EQ(made, whole);
  EXPECT_TRUE(stream.ends_with("data: [DONE]\n\n"));
  EXPECT_NE(stream.find(R"("usage":{"prompt_tokens":4,"completion_tokens":6,)"), std::string::npos);
}

TEST_F(OpenAiGenerationRoutes, PromptsAreTextsOrTokens) {
  const std::string text = choice(kCompletions, R"("prompt":"w4 w5","max_tokens":4)").get_string("text", "");
  EXPECT_EQ(choice(kCompletions, R"("prompt":[4,5],"max_tokens":4)").get_string("text", ""), text);
  EXPECT_EQ(choice(kCompletions, R"("prompt":[[4,5],[6]],"max_tokens":4)").get_string("text", ""), text);
  const Response several = post(kCompletions, R"("prompt":["w4 w5","w6"],"max_tokens":4,"n":2)");
  EXPECT_EQ(json(several).find("choices")->as_array("choices").size(), 4U);
  expect_refused(kCompletions, R"("prompt":[4,99999])", R"("prompt")");
  expect_refused(kCompletions, R"("prompt":"")", R"("prompt")");
  expect_refused(kCompletions, R"("prompt":"w4","suffix":"w5")", R"("suffix")", R"("unsupported")");
}

TEST_F(OpenAiGenerationRoutes, ACompletionHasSixteenTokensIfNobodySaysHowMany) {
  const Response response = post(kCompletions, R"("prompt":"w4")");
  EXPECT_EQ(text(*json(response).find("usage"), "completion_tokens"), "16");
}

TEST_F(OpenAiGenerationRoutes, EchoHasTheLogprobsOfThePrompt) {
  const Json one = choice(kCompletions, R"("prompt":[4,5,6],"max_tokens":1,"echo":true,"logprobs":1,"temperature":0)");
  const Json& logprobs = *one.find("logprobs");
  EXPECT_EQ(logprobs.find("tokens")->as_array("tokens").size(), 4U);
  const Json::Array& values = logprobs.find("token_logprobs")->as_array("token_logprobs");
  const Json::Array& tops = logprobs.find("top_logprobs")->as_array("top_logprobs");
  ASSERT_EQ(values.size(), 4U);
  EXPECT_TRUE(values[0].is_null() && tops[0].is_null());
  // The token after the prompt is the likeliest, and its own.
  double best = -1e9;
  for (const auto& [name, value] : tops[3].as_object("top")) best = std::max(best, value.as_double(name));
  EXPECT_EQ(values[3].as_double("logprob"), best);
  // What the model says of a prompt's token is what it says of the same token when it makes it.
  const Json none = choice(kCompletions, R"("prompt":[4,5,6],"max_tokens":0,"echo":true,"logprobs":1)");
  EXPECT_EQ(none.get_string("text", ""), "w4 w5 w6");
  const Json::Array& same = none.find("logprobs")->find("token_logprobs")->as_array("token_logprobs");
  ASSERT_EQ(same.size(), 3U);
  for (std::size_t i = 1; i < 3; ++i) EXPECT_EQ(same[i].as_double("one"), values[i].as_double("other"));
}

TEST_F(OpenAiGenerationRoutes, AResponse) {
  const Response response = post(kResponses, R"("input":"w4 w5","max_output_tokens":6,"metadata":{"a":"b"})");
  EXPECT_EQ(response.status, 200) << response.body;
  expect_documented(kResponses, response);
  const Json made = json(response);
  EXPECT_EQ(made.get_string("status", ""), "incomplete");
  EXPECT_EQ(text(made, "metadata"), R"({"a":"b"})");
  EXPECT_EQ(text(*made.find("usage"), "input_tokens"), "4");
  EXPECT_EQ(made.find("output")->as_array("output")[0].find("content")->as_array("content")[0].get_string("text", ""),
            choice(kChat, kMessages + R"(,"max_tokens":6)").find("message")->get_string("content", "absent"));
  EXPECT_EQ(post("/v1/responses/input_tokens", R"("input":"w4 w5")").body,
            R"({"object":"response.input_tokens","input_tokens":4})");
  expect_refused(kResponses, R"("input":"a","previous_response_id":"resp_1")", R"("previous_response_id")",
                 R"("unsupported")");
}

TEST_F(OpenAiGenerationRoutes, WhatDoesNotFitTheContextIsRefused) {
  std::string prompt;
  for (std::int64_t i = 0; i < tests::kTinyContext; ++i) prompt += "w7 ";
  for (const char* streams : {"false", "true"}) {
    const std::string stream = R"(,"stream":)" + std::string(streams);
    expect_refused(kChat, R"("messages":[{"role":"user","content":")" + prompt + R"("}])" + stream, R"("messages")",
                   R"("context_length_exceeded")");
    expect_refused(kCompletions, R"("prompt":")" + prompt + "\"" + stream, R"("prompt")",
                   R"("context_length_exceeded")");
    expect_refused(kResponses, R"("input":")" + prompt + "\"" + stream, R"("input")", R"("context_length_exceeded")");
  }
}

TEST_F(OpenAiGenerationRoutes, OptionsOutOfRangeAreRefusedByTheirNames) {
  expect_refused(kChat, kMessages + R"(,"logit_bias":{"99999":1})", "null");
  expect_refused(kChat, kMessages + R"(,"logit_bias":{"x":1})", R"("logit_bias")");
  expect_refused(kChat, kMessages + R"(,"top_logprobs":2)", R"("top_logprobs")");
  expect_refused(kCompletions, R"("prompt":"w4","n":3,"best_of":2)", R"("best_of")");
}

TEST_F(OpenAiGenerationRoutes, AModelThatDoesNotGenerateIsRefused) {
  add("acme/embedder");
  expect_refused(kChat, kMessages + R"(,"model":"acme/embedder")", R"("model")");
  expect_refused("/v1/responses/input_tokens", R"("input":"a","model":"acme/embedder")", R"("model")");
}

}  // namespace
}  // namespace alate::server
