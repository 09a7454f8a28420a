#include <gtest/gtest.h>

#include <string>

#include "tests/unit/server/api/generating_routes.h"

namespace alate::server {
namespace {

using formats::Json;

class AnthropicRoutes : public GeneratingRouteTest {
 protected:
  Response post(const std::string& members, std::string_view path = "/v1/messages") {
    return call(anthropic_routes(), Method::post, path, R"({"model": "tiny/writer", )" + members + "}");
  }
  static std::string error(const Response& response, std::string_view member) {
    return text(*json(response).find("error"), member);
  }
};

constexpr const char* kQuestion = R"("messages": [{"role": "user", "content": "w5 w6"}], "temperature": 0)";

TEST_F(AnthropicRoutes, AMessageIsTheLibrarysAnswer) {
  const Response response = post(R"("max_tokens": 6, )" + std::string(kQuestion));
  ASSERT_EQ(response.status, 200) << response.body;
  const Json message = json(response);
  EXPECT_EQ(text(message, "content"), R"([{"type":"text","text":")" + answer_of_library("w5 w6", 6) + "\"}]");
  EXPECT_EQ(text(message, "model"), R"("tiny/writer")");
  EXPECT_EQ(text(message, "stop_reason"), R"("max_tokens")");
  EXPECT_EQ(text(*message.find("usage"), "output_tokens"), "6");
  EXPECT_NE(header(response, "X-Model-Fingerprint"), "");
}

TEST_F(AnthropicRoutes, AStreamBringsTheSameTextInPieces) {
  const Response response = post(R"("max_tokens": 6, "stream": true, )" + std::string(kQuestion));
  EXPECT_EQ(response.content_type, "text/event-stream; charset=utf-8");
  const std::string stream = body_of(response);
  std::string made;
  std::size_t pieces = 0;
  const std::string_view begin = R"("delta":{"type":"text_delta","text":")";
  for (std::size_t at = stream.find(begin); at != std::string::npos; at = stream.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    made += stream.substr(from, stream.find('"', from) - from);
    ++pieces;
  }
  EXPECT_EQ(made, answer_of_library("w5 w6", 6));
  EXPECT_GT(pieces, 2U) << stream;
  EXPECT_TRUE(stream.starts_with("event: message_start\n")) << stream;
  EXPECT_TRUE(stream.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")) << stream;
}

TEST_F(AnthropicRoutes, GoesOnWithAPrefilledAnswer) {
  const auto content = [&](const std::string& messages) {
    const Response response =
        post(R"("max_tokens": 4, "temperature": 0, "messages": [{"role": "user", "content": "w5"})" + messages + "]");
    EXPECT_EQ(response.status, 200) << response.body;
    return text(json(response), "content");
  };
  EXPECT_NE(content(R"(, {"role": "assistant", "content": "w7 w8"})"), content(""));
}

TEST_F(AnthropicRoutes, CountsTheTokensThatAMessageTakes) {
  const Json counted = json(post(kQuestion, "/v1/messages/count_tokens"));
  const Json usage = *json(post(R"("max_tokens": 1, )" + std::string(kQuestion))).find("usage");
  EXPECT_GT(counted.get_int("input_tokens", 0), 2);
  EXPECT_EQ(counted.get_int("input_tokens", 0),
            usage.get_int("input_tokens", 0) + usage.get_int("cache_read_input_tokens", 0));
}

TEST_F(AnthropicRoutes, EndsAtAStopSequence) {
  const std::string whole = answer_of_library("w5 w6", 6);
  const std::string stop = whole.substr(whole.rfind(' ') + 1);
  const Json message = json(post(R"("max_tokens": 50, "stop_sequences": [")" + stop + R"("], )" + kQuestion));
  EXPECT_EQ(text(message, "stop_reason"), R"("stop_sequence")");
  EXPECT_EQ(text(message, "stop_sequence"), "\"" + stop + "\"");
}

TEST_F(AnthropicRoutes, WhatFillsTheContextIsRefusedAndWhatReachesItsEndSaysSo) {
  std::string words;
  for (int i = 0; i < 200; ++i) words += "w5 ";
  const Response response = post(R"("max_tokens": 6, "messages": [{"role": "user", "content": ")" + words + "\"}]");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(error(response, "type"), R"("invalid_request_error")");
  EXPECT_EQ(error(response, "code"), R"("context_length_exceeded")");
  const Json full = json(post(R"("max_tokens": 1000, )" + std::string(kQuestion)));
  EXPECT_EQ(text(full, "stop_reason"), R"("model_context_window_exceeded")");
}

TEST_F(AnthropicRoutes, ErrorsHaveAnthropicsTypes) {
  const Response unknown =
      call(anthropic_routes(), Method::post, "/v1/messages",
           R"({"model": "acme/none", "max_tokens": 1, "messages": [{"role": "user", "content": "a"}]})");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(text(json(unknown), "type"), R"("error")");
  EXPECT_EQ(error(unknown, "type"), R"("not_found_error")");
  for (const char* path : {"/v1/messages", "/v1/messages/count_tokens"}) {
    const Response embedder =
        call(anthropic_routes(), Method::post, path,
             R"({"model": "acme/mean", "max_tokens": 1, "messages": [{"role": "user", "content": "a"}]})");
    EXPECT_EQ(embedder.status, 400) << embedder.body;
    EXPECT_EQ(error(embedder, "type"), R"("invalid_request_error")");
  }
  const Response hot = post(R"("max_tokens": 6, "messages": [{"role": "user", "content": "w5"}], "temperature": 1000)");
  EXPECT_EQ(hot.status, 400);
  EXPECT_EQ(error(hot, "param"), R"("temperature")");
  EXPECT_TRUE(loaded().empty() || loaded() == std::vector<std::string>{"acme/mean"});  // not for that
}

TEST_F(AnthropicRoutes, ARequestWithoutAModelGetsALanguageModel) {
  const Response response = call(anthropic_routes(), Method::post, "/v1/messages",
                                 R"({"max_tokens": 1, "messages": [{"role": "user", "content": "w5"}]})");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(text(json(response), "model"), R"("tiny/writer")");
}

}  // namespace
}  // namespace alate::server
