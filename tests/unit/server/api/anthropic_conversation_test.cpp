#include "server/api/anthropic_conversation.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "server/api/route_schemas.h"
#include "server/exchange/family.h"
#include "server/schema/schema.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::ChatRequest;
using pipelines::ToolChoice;

ChatRequest read(std::string_view members) {
  const Json body = formats::parse_json("{\"max_tokens\": 9, " + std::string(members) + "}", "the body");
  const auto violation = Schema::parse(route_schema(Family::anthropic, "messages_body")).check(body);
  EXPECT_FALSE(violation) << violation->message;
  return read_anthropic_conversation(body);
}

std::string messages(std::string_view members) { return formats::to_json_text(read(members).messages); }

Problem problem(std::string_view members) {
  try {
    read(members);
  } catch (const RequestError& error) {
    return error.problem();
  }
  ADD_FAILURE() << "no error";
  return {};
}

constexpr std::string_view kHello = R"("messages": [{"role": "user", "content": "Hello"}])";

TEST(AnthropicConversation, TextIsAMessageAndSystemTheFirst) {
  EXPECT_EQ(messages(kHello), R"([{"role":"user","content":"Hello"}])");
  EXPECT_EQ(messages(R"("system": "Be kind.", )" + std::string(kHello)),
            R"([{"role":"system","content":"Be kind."},{"role":"user","content":"Hello"}])");
  EXPECT_EQ(messages(R"("system": [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}], )" +
                     std::string(kHello)),
            R"([{"role":"system","content":"Be kind."},{"role":"user","content":"Hello"}])");
}

TEST(AnthropicConversation, TurnsOfOneRoleAreOne) {
  EXPECT_EQ(messages(R"("messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"},
                                     {"role": "assistant", "content": "c"}, {"role": "user", "content": ""}])"),
            R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},)"
            R"({"role":"assistant","content":"c"},{"role":"user","content":""}])");
}

TEST(AnthropicConversation, CallsAndResultsBecomeThoseOfTheTemplates) {
  EXPECT_EQ(
      messages(R"("messages": [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": ""},
           {"type": "text", "text": "I look."}, {"type": "tool_use", "id": "t1", "name": "find", "input": {"a": [1]}},
           {"type": "tool_use", "id": "t2", "name": "ask", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "found"},
           {"type": "tool_result", "tool_use_id": "t2", "is_error": true, "content": [{"type": "text", "text": "no"}]},
           {"type": "text", "text": "And?"}]}])"),
      R"([{"role":"user","content":"?"},{"role":"assistant","content":"I look.","reasoning_content":"hm","tool_calls":[)"
      R"({"id":"t1","type":"function","function":{"name":"find","arguments":"{\"a\":[1]}"}},)"
      R"({"id":"t2","type":"function","function":{"name":"ask","arguments":"{}"}}]},)"
      R"({"role":"tool","content":"found","tool_call_id":"t1","name":"find"},)"
      R"({"role":"tool","content":"Error: no","tool_call_id":"t2","name":"ask"},{"role":"user","content":"And?"}])");
}

TEST(AnthropicConversation, WhatIsNotReadIsRefusedByName) {
  const Problem image = problem(R"("messages": [{"role": "user", "content": [{"type": "text", "text": "a"},
      {"type": "image", "source": {"type": "url", "url": "http://127.0.0.1/"}}]}])");
  EXPECT_EQ(image.kind, Problem::Kind::unsupported);
  EXPECT_EQ(image.parameter, "messages");
  EXPECT_NE(image.message.find(R"(messages[0].content[1] has the type "image")"), std::string::npos) << image.message;
  EXPECT_EQ(problem(R"("messages": [{"role": "user", "content": [{"type": "document"}]}])").kind,
            Problem::Kind::unsupported);
  EXPECT_EQ(problem(R"("messages": [{"role": "user", "content": [{"type": "tool_use"}]}])").kind,
            Problem::Kind::unsupported);
  EXPECT_EQ(problem(R"("container": "c", )" + std::string(kHello)).parameter, "container");
  EXPECT_EQ(problem(R"("tools": [{"type": "web_search_20250305", "name": "web_search"}], )" + std::string(kHello)).kind,
            Problem::Kind::unsupported);
}

TEST(AnthropicConversation, AResultNeedsItsCall) {
  const Problem found = problem(
      R"("messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t9", "content": ""}]}])");
  EXPECT_EQ(found.kind, Problem::Kind::invalid);
  EXPECT_NE(found.message.find(R"("t9")"), std::string::npos) << found.message;
}

TEST(AnthropicConversation, ToolsAndTheirChoice) {
  const std::string tools = R"("tools": [{"name": "find", "description": "Finds.", "input_schema": {"type": "object"},
      "strict": true}], )" + std::string(kHello);
  const ChatRequest request = read(tools);
  EXPECT_EQ(formats::to_json_text(request.tools),
            R"([{"type":"function","function":{"name":"find","description":"Finds.","parameters":{"type":"object"},)"
            R"("strict":true}}])");
  EXPECT_EQ(request.tool_choice.kind, ToolChoice::Kind::automatic);
  EXPECT_TRUE(request.parallel_tool_calls);
  EXPECT_EQ(read(R"("tool_choice": {"type": "any"}, )" + tools).tool_choice.kind, ToolChoice::Kind::required);
  EXPECT_EQ(read(R"("tool_choice": {"type": "none"}, )" + tools).tool_choice.kind, ToolChoice::Kind::none);
  const ChatRequest named =
      read(R"("tool_choice": {"type": "tool", "name": "find", "disable_parallel_tool_use": true}, )" + tools);
  EXPECT_EQ(named.tool_choice.kind, ToolChoice::Kind::named);
  EXPECT_EQ(named.tool_choice.name, "find");
  EXPECT_FALSE(named.parallel_tool_calls);
  EXPECT_EQ(problem(R"("tool_choice": {"type": "tool", "name": "other"}, )" + tools).parameter, "tool_choice");
}

TEST(AnthropicConversation, ThinkingIsTheTemplatesUnlessItIsSaid) {
  const std::string hello(kHello);
  EXPECT_EQ(read(hello).thinks, std::nullopt);
  EXPECT_EQ(read(R"("thinking": {"type": "enabled", "budget_tokens": 1024}, )" + hello).thinks, true);
  EXPECT_EQ(read(R"("thinking": {"type": "disabled"}, )" + hello).thinks, false);
  EXPECT_EQ(read(R"("thinking": {"type": "adaptive"}, )" + hello).thinks, std::nullopt);
}

TEST(AnthropicConversation, OutputHasASchemaAndAnEffort) {
  const ChatRequest request =
      read(R"("output_config": {"effort": "max", "format": {"type": "json_schema", "schema": {"type": "object"}}}, )" +
           std::string(kHello));
  EXPECT_EQ(request.reasoning_effort, "high");
  EXPECT_EQ(request.format, (OutputFormat{OutputFormat::Kind::json_schema, R"({"type":"object"})"}));
}

TEST(AnthropicConversation, GoesOnWithTheAssistantsLastMessage) {
  EXPECT_FALSE(read(kHello).continues_last);
  const std::string_view prefilled =
      R"("messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi,"}])";
  EXPECT_TRUE(read(prefilled).continues_last);
  EXPECT_EQ(messages(prefilled), R"([{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi,"}])");
  // What calls a tool waits for its result.
  EXPECT_EQ(problem(R"("messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content":
      [{"type": "tool_use", "id": "t1", "name": "find", "input": {}}]}])")
                .kind,
            Problem::Kind::invalid);
}

}  // namespace
}  // namespace alate::server
