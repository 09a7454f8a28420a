#include "server/api/ollama_conversation.h"

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

Json body_of(std::string_view schema, std::string_view text) {
  Json body = formats::parse_json(text, "the body");
  const auto violation = Schema::parse(route_schema(Family::ollama, schema)).check(body);
  EXPECT_FALSE(violation) << violation->message;
  return body;
}

ChatRequest read(std::string_view text) { return read_ollama_chat(body_of("chat_body", text)); }
std::string messages(std::string_view text) { return formats::to_json_text(read(text).messages); }

Problem problem(std::string_view text) {
  try {
    read(text);
  } catch (const RequestError& error) {
    return error.problem();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(OllamaConversation, CallsGetIdsAndResultsThoseOfTheirCalls) {
  EXPECT_EQ(messages(R"({"messages": [
        {"role": "User", "content": "?"},
        {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": [
           {"function": {"name": "find", "arguments": {"a": 1}}}, {"function": {"name": "ask", "arguments": {}}},
           {"id": "own", "function": {"name": "find"}}]},
        {"role": "tool", "content": "1", "tool_name": "ask"}, {"role": "tool", "content": "2", "tool_name": "find"},
        {"role": "tool", "content": "3", "tool_call_id": "own"}, {"role": "tool", "content": "4"}]})"),
            R"([{"role":"user","content":"?"},{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[)"
            R"({"id":"call1","type":"function","function":{"name":"find","arguments":"{\"a\":1}"}},)"
            R"({"id":"call2","type":"function","function":{"name":"ask","arguments":"{}"}},)"
            R"({"id":"own","type":"function","function":{"name":"find","arguments":"{}"}}]},)"
            R"({"role":"tool","content":"1","tool_call_id":"call2","name":"ask"},)"
            R"({"role":"tool","content":"2","tool_call_id":"call1","name":"find"},)"
            R"({"role":"tool","content":"3","tool_call_id":"own"},{"role":"tool","content":"4"}])");
}

TEST(OllamaConversation, ImagesAreRefusedByName) {
  const Problem found = problem(R"({"messages": [{"role": "user", "content": "?", "images": ["aGk="]}]})");
  EXPECT_EQ(found.kind, Problem::Kind::unsupported);
  EXPECT_EQ(found.parameter, "messages");
  EXPECT_NE(found.message.find("messages[0].images"), std::string::npos) << found.message;
  EXPECT_EQ(messages(R"({"messages": [{"role": "user", "content": "?", "images": []}]})"),
            R"([{"role":"user","content":"?"}])");
}

TEST(OllamaConversation, ThinkIsAFlagOrALevel) {
  const auto think = [](const std::string& value) {
    return read(R"({"messages": [{"role": "user", "content": "?"}], "think": )" + value + "}");
  };
  EXPECT_EQ(think("null").thinks, std::nullopt);
  EXPECT_EQ(think("true").thinks, true);
  EXPECT_EQ(think("true").reasoning_effort, "");
  EXPECT_EQ(think("false").thinks, false);
  EXPECT_EQ(think(R"("low")").thinks, true);
  EXPECT_EQ(think(R"("low")").reasoning_effort, "low");
  EXPECT_EQ(think(R"("max")").reasoning_effort, "high");
}

TEST(OllamaConversation, AFormatIsJsonOrASchema) {
  const auto format = [](const std::string& value) {
    return read(R"({"messages": [{"role": "user", "content": "?"}], "format": )" + value + "}").format;
  };
  EXPECT_EQ(format(R"("")"), OutputFormat{});
  EXPECT_EQ(format(R"("json")"), OutputFormat{OutputFormat::Kind::json});
  EXPECT_EQ(format(R"({"type": "object"})"), (OutputFormat{OutputFormat::Kind::json_schema, R"({"type":"object"})"}));
}

TEST(OllamaConversation, GoesOnWithTheAssistantsLastMessage) {
  EXPECT_FALSE(read(R"({"messages": [{"role": "user", "content": "?"}]})").continues_last);
  EXPECT_TRUE(read(R"({"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Well,"}]})")
                  .continues_last);
}

TEST(OllamaConversation, APromptIsWhatTheUserSays) {
  EXPECT_EQ(formats::to_json_text(
                read_ollama_prompt(body_of("generate_body", R"({"prompt": "Why?", "system": "Be brief."})")).messages),
            R"([{"role":"system","content":"Be brief."},{"role":"user","content":"Why?"}])");
}

}  // namespace
}  // namespace alate::server
