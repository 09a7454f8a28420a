#include "server/api/openai_conversation.h"

#include <gtest/gtest.h>

#include <string>

#include "server/exchange/family.h"

namespace alate::server {
namespace {

using formats::Json;
using pipelines::ChatRequest;
using pipelines::ToolChoice;

ChatRequest read(const std::string& members) {
  return read_conversation(formats::parse_json("{" + members + "}", "the body"));
}

std::string messages_of(const std::string& messages) {
  return formats::to_json_text(read(R"("messages":)" + messages).messages);
}

Problem refusal_of(const std::string& members) {
  try {
    read(members);
  } catch (const RequestError& error) {
    return error.problem();
  }
  ADD_FAILURE() << members << " is not refused";
  return {};
}

const std::string kUser = R"("messages":[{"role":"user","content":"a"}])";
const std::string kTools =
    R"(,"tools":[{"type":"function","function":{"name":"find","parameters":{"type":"object"}}}])";

TEST(OpenAiConversation, MessagesKeepWhatTemplatesUse) {
  EXPECT_EQ(messages_of(R"([{"role":"system","content":"s"},{"role":"user","name":"Ada","content":"a"}])"),
            R"([{"role":"system","content":"s"},{"role":"user","content":"a","name":"Ada"}])");
  EXPECT_EQ(
      messages_of(R"([{"role":"user","content":[{"type":"text","text":"a","extra":1},{"type":"text","text":"b"}]}])"),
      R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}])");
  EXPECT_EQ(
      messages_of(R"([{"role":"assistant","content":null,"reasoning":"so","tool_calls":[{"id":"1","type":"function",
                       "function":{"name":"find","arguments":"{}"}},{"function":{"name":"go","arguments":{"a":1}}}]},
                      {"role":"tool","tool_call_id":"1","content":"found"}])"),
      R"([{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"find",)"
      R"("arguments":"{}"}},{"id":"","type":"function","function":{"name":"go","arguments":"{\"a\":1}"}}],)"
      R"("reasoning_content":"so"},{"role":"tool","content":"found","tool_call_id":"1"}])");
}

TEST(OpenAiConversation, PartsThatAreNotTextAreRefusedByName) {
  for (const char* type : {"image_url", "input_audio", "file"}) {
    const Problem problem = refusal_of(R"("messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":")" +
                                       std::string(type) + R"("}]}])");
    EXPECT_EQ(problem.kind, Problem::Kind::unsupported);
    EXPECT_EQ(problem.parameter, "messages");
    EXPECT_EQ(problem.message, "messages[0].content[1] is of the type \"" + std::string(type) +
                                   "\", which this server does not read; give parts of the type \"text\"");
  }
}

TEST(OpenAiConversation, MessagesThatAreNoneAreRefused) {
  for (const char* message :
       {"{}", R"({"role":"user"})", R"({"role":"user","content":5})", R"({"role":"robot","content":"a"})",
        R"({"role":"function","name":"f","content":"a"})", R"({"role":"user","content":[5]})",
        R"({"role":"user","content":[{"type":"text"}]})", R"({"role":"user","content":[{"text":"a"}]})",
        R"({"role":"assistant","tool_calls":[{}]})", R"({"role":"assistant","tool_calls":[{"function":{}}]})", "5"})
    EXPECT_EQ(refusal_of(R"("messages":[)" + std::string(message) + "]").parameter, "messages") << message;
}

TEST(OpenAiConversation, ToolsAndTheirChoice) {
  const ChatRequest request = read(kUser + kTools + R"(,"tool_choice":{"type":"function","function":{"name":"find"}})");
  EXPECT_EQ(formats::to_json_text(request.tools),
            R"([{"type":"function","function":{"name":"find","parameters":{"type":"object"}}}])");
  EXPECT_EQ(request.tool_choice.kind, ToolChoice::Kind::named);
  EXPECT_EQ(request.tool_choice.name, "find");
  EXPECT_TRUE(request.parallel_tool_calls);
  EXPECT_EQ(read(kUser + kTools + R"(,"tool_choice":"required")").tool_choice.kind, ToolChoice::Kind::required);
  EXPECT_EQ(read(kUser + R"(,"tool_choice":"none")").tool_choice.kind, ToolChoice::Kind::none);
  EXPECT_TRUE(read(kUser + R"(,"tools":[],"tool_choice":"auto")").tools.is_null());
  EXPECT_FALSE(read(kUser + kTools + R"(,"parallel_tool_calls":false)").parallel_tool_calls);

  EXPECT_EQ(refusal_of(kUser + R"(,"tools":[{"type":"web_search"}])").parameter, "tools");
  EXPECT_EQ(refusal_of(kUser + R"(,"tools":[{"type":"function"}])").parameter, "tools");
  EXPECT_EQ(refusal_of(kUser + R"(,"tools":[{"type":"function","function":{"name":""}}])").parameter, "tools");
  for (const char* choice : {R"("any")", R"({"type":"function","function":{"name":"go"}})", R"({"type":"custom"})",
                             R"({"type":"function"})"})
    EXPECT_EQ(refusal_of(kUser + kTools + R"(,"tool_choice":)" + choice).parameter, "tool_choice") << choice;
  EXPECT_EQ(refusal_of(kUser + R"(,"tool_choice":"required")").parameter, "tool_choice");
}

TEST(OpenAiConversation, ReasoningAndVariablesOfTheTemplate) {
  EXPECT_EQ(read(kUser).thinks, std::nullopt);
  EXPECT_EQ(read(kUser + R"(,"reasoning_effort":"none")").thinks, false);
  const ChatRequest high = read(kUser + R"(,"reasoning_effort":"high")");
  EXPECT_EQ(high.thinks, true);
  EXPECT_EQ(high.reasoning_effort, "high");
  const ChatRequest request = read(kUser + R"(,"chat_template_kwargs":{"enable_thinking":false,"style":"short"})");
  EXPECT_EQ(request.thinks, false);
  EXPECT_EQ(request.variables.get_string("style", ""), "short");
  EXPECT_EQ(refusal_of(kUser + R"(,"chat_template_kwargs":5)").parameter, "chat_template_kwargs");
}

TEST(OpenAiConversation, TheLastMessageIsContinuedIfItIsTheAssistants) {
  const std::string last = R"("messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}])";
  EXPECT_FALSE(read(last).continues_last);
  EXPECT_TRUE(read(last + R"(,"continue_final_message":true)").continues_last);
  EXPECT_EQ(refusal_of(kUser + R"(,"continue_final_message":true)").parameter, "continue_final_message");
}

TEST(OpenAiConversation, WhatWouldChangeTheAnswerIsNotIgnored) {
  for (const char* name : {"functions", "function_call", "audio", "web_search_options", "chat_template"})
    EXPECT_EQ(refusal_of(kUser + ",\"" + name + R"(":"x")").parameter, name);
  EXPECT_EQ(refusal_of(kUser + R"(,"modalities":["text","audio"])").parameter, "modalities");
  read(kUser + R"(,"modalities":["text"],"functions":null,"unknown":1)");
}

}  // namespace
}  // namespace alate::server
