// Ollama's /api/generate and /api/chat over a tiny language model.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/server/api/generating_routes.h"

namespace alate::server {
namespace {

using formats::Json;

class OllamaGeneration : public GeneratingRouteTest {
 protected:
  Response generate(const std::string& members) {
    return call(native_routes(), Method::post, "/api/generate", R"({"model": "tiny/writer", )" + members + "}");
  }
  Response chat(const std::string& members) {
    return call(ollama_routes(), Method::post, "/api/chat", R"({"model": "tiny/writer", )" + members + "}");
  }
  static std::vector<Json> lines_of(const Response& response) {
    std::vector<Json> lines;
    std::string body = body_of(response);
    while (!body.empty()) {
      const std::size_t end = body.find('\n');
      lines.push_back(formats::parse_json(body.substr(0, end), "a line"));
      body.erase(0, end + 1);
    }
    return lines;
  }
};

constexpr const char* kGreedy = R"("options": {"temperature": 0, "num_predict": 6})";

TEST_F(OllamaGeneration, APromptIsWhatTheUserSays) {
  const Response response = generate(R"("prompt": "w5 w6", "stream": false, )" + std::string(kGreedy));
  ASSERT_EQ(response.status, 200) << response.body;
  const Json answer = json(response);
  EXPECT_EQ(answer.get_string("response", ""), answer_of_library("w5 w6", 6));
  EXPECT_EQ(text(answer, "done_reason"), R"("length")");
  EXPECT_EQ(text(answer, "eval_count"), "6");
  EXPECT_GT(answer.get_int("total_duration", 0), 0);
}

TEST_F(OllamaGeneration, ARawPromptIsContinuedAsItIs) {
  const Json answer = json(generate(R"("prompt": "w5 w6", "raw": true, "stream": false, )" + std::string(kGreedy)));
  GenerationOptions options;
  options.sampling.temperature = 0;
  options.stopping.max_tokens = 6;
  EXPECT_EQ(answer.get_string("response", ""), TextGenerator::load(writer()).generate("w5 w6", options).text);
  EXPECT_EQ(answer.get_int("prompt_eval_count", 0), 2);
}

TEST_F(OllamaGeneration, AModelWithoutATemplateContinuesPromptsAndTakesNoConversations) {
  std::filesystem::remove(writer() / "chat_template.jinja");
  const Json answer = json(generate(R"("prompt": "w5 w6", "stream": false, )" + std::string(kGreedy)));
  EXPECT_EQ(answer.get_int("prompt_eval_count", 0), 2);
  EXPECT_EQ(generate(R"("prompt": "w5", "system": "w6")").status, 400);
  const Response response = chat(R"("messages": [{"role": "user", "content": "w5"}])");
  EXPECT_EQ(response.status, 422);
  EXPECT_NE(response.body.find("no chat template"), std::string::npos) << response.body;
}

TEST_F(OllamaGeneration, StreamsUnlessItIsAskedNotTo) {
  const Response response = generate(R"("prompt": "w5 w6", )" + std::string(kGreedy));
  EXPECT_EQ(response.content_type, "application/x-ndjson");
  const std::vector<Json> lines = lines_of(response);
  std::string made;
  for (const Json& line : lines) made += line.get_string("response", "");
  EXPECT_EQ(made, answer_of_library("w5 w6", 6));
  ASSERT_GT(lines.size(), 3U);
  EXPECT_EQ(text(lines.front(), "done"), "false");
  EXPECT_EQ(text(lines.back(), "done"), "true");
  EXPECT_EQ(text(lines.back(), "response"), R"("")");
}

TEST_F(OllamaGeneration, AChatAnswersItsLastMessage) {
  const Json answer =
      json(chat(R"("messages": [{"role": "user", "content": "w5 w6"}], "stream": false, )" + std::string(kGreedy)));
  EXPECT_EQ(answer.find("message")->get_string("content", ""), answer_of_library("w5 w6", 6));
  EXPECT_EQ(text(*answer.find("message"), "role"), R"("assistant")");
}

TEST_F(OllamaGeneration, TokensHaveTheirLogProbabilities) {
  const Json answer = json(
      generate(R"("prompt": "w5 w6", "stream": false, "logprobs": true, "top_logprobs": 2, )" + std::string(kGreedy)));
  ASSERT_NE(answer.find("logprobs"), nullptr);
  const Json::Array& tokens = answer.find("logprobs")->as_array("logprobs");
  ASSERT_EQ(tokens.size(), 6U);
  EXPECT_LT(tokens[0].get_double("logprob", 1), 0);
  EXPECT_EQ(tokens[0].find("top_logprobs")->as_array("top_logprobs").size(), 2U);
}

TEST_F(OllamaGeneration, WithoutAPromptTheModelIsLoadedOrUnloaded) {
  for (const bool is_chat : {false, true}) {
    const auto ask = [&](const std::string& members) { return is_chat ? chat(members) : generate(members); };
    Json answer = json(ask(R"("keep_alive": 0)"));
    EXPECT_EQ(text(answer, "done_reason"), R"("unload")");
    EXPECT_TRUE(loaded().empty());  // not loaded for that
    answer = json(ask(R"("keep_alive": "5m")"));
    EXPECT_EQ(text(answer, "done_reason"), R"("load")");
    EXPECT_EQ(text(answer, "done"), "true");
    EXPECT_EQ(loaded(), std::vector<std::string>{"tiny/writer"});
    EXPECT_EQ(text(json(ask(R"("keep_alive": 0)")), "done_reason"), R"("unload")");
    host().unload_idle();
    EXPECT_TRUE(loaded().empty());
  }
  EXPECT_EQ(call(ollama_routes(), Method::post, "/api/chat", R"({"model": "acme/mean"})").status, 422);
  EXPECT_EQ(call(ollama_routes(), Method::post, "/api/chat", R"({"model": "acme/none"})").status, 404);
}

TEST_F(OllamaGeneration, TheOldestMessagesAreLeftOutOfALongConversation) {
  std::string messages;
  for (int i = 0; i < 30; ++i)
    messages += R"({"role": "user", "content": "w5 w6"}, {"role": "assistant", "content": "w7"}, )";
  const std::string body = R"("stream": false, "messages": [{"role": "system", "content": "w9"}, )" + messages +
                           R"({"role": "user", "content": "w8"}], "options": {"temperature": 0, "num_predict": 1})";
  const Response response = chat(body);
  ASSERT_EQ(response.status, 200) << response.body;
  // The system's message, as many turns of 4 + 3 tokens as fit below 100, and the last message.
  EXPECT_EQ(json(response).get_int("prompt_eval_count", 0), 3 + 13 * 7 + 3);
  const Response whole = chat(R"("truncate": false, )" + body);
  EXPECT_EQ(whole.status, 422);
  EXPECT_EQ(text(json(whole), "code"), R"("too_long")");
}

TEST_F(OllamaGeneration, NumCtxIsTheRoomOfPromptAndText) {
  const Json answer =
      json(generate(R"("prompt": "w5 w6", "stream": false, "options": {"temperature": 0, "num_ctx": 10})"));
  EXPECT_EQ(answer.get_int("prompt_eval_count", 0) + answer.get_int("eval_count", 0), 10);
  EXPECT_EQ(text(answer, "done_reason"), R"("length")");
  const Response full = generate(R"("prompt": "w5 w6", "options": {"num_ctx": 3})");
  EXPECT_EQ(full.status, 422);
  EXPECT_EQ(text(json(full), "code"), R"("too_long")");
}

TEST_F(OllamaGeneration, WhatIsNotTakenIsRefusedByNameAndItsEmptyFormIsNot) {
  for (const char* member :
       {R"("template": "{{ .Prompt }}")", R"("suffix": "w9")", R"("images": ["aGk="])", R"("context": [1])"}) {
    const Response response = generate(std::string(member) + R"(, "prompt": "w5")");
    EXPECT_EQ(response.status, 501) << member;
    EXPECT_EQ(text(json(response), "code"), R"("unsupported")");
  }
  EXPECT_TRUE(loaded().empty());
  EXPECT_EQ(generate(R"("template": "", "suffix": "", "images": [], "context": [], "system": "", "format": "",
                        "prompt": "w5", "stream": false, )" +
                     std::string(kGreedy))
                .status,
            200);
  EXPECT_EQ(generate(R"("prompt": "w5", "raw": true, "system": "w6")").status, 400);
  const Response hot = generate(R"("prompt": "w5", "options": {"temperature": 1000})");
  EXPECT_EQ(hot.status, 400);
  EXPECT_NE(hot.body.find("options.temperature"), std::string::npos) << hot.body;
}

TEST_F(OllamaGeneration, ShowAndPsKnowLanguageModels) {
  const Json shown = json(call(ollama_routes(), Method::post, "/api/show", R"({"model": "tiny/writer"})"));
  EXPECT_EQ(text(shown, "capabilities"), R"(["completion"])");
  EXPECT_NE(text(shown, "template").find("for m in messages"), std::string::npos);
  EXPECT_EQ(text(*shown.find("model_info"), "general.architecture"), R"("llama")");
  EXPECT_EQ(text(*shown.find("model_info"), "llama.context_length"), "100");
  generate("\"stream\": false");
  const Json listed = json(call(ollama_routes(), Method::get, "/api/ps"));
  const Json::Array& models = listed.find("models")->as_array("models");
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(text(models[0], "context_length"), "100");
  EXPECT_GT(models[0].get_int("size", 0), 0);
}

}  // namespace
}  // namespace alate::server
