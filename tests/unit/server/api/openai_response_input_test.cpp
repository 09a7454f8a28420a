#include "server/api/openai_response_input.h"

#include <gtest/gtest.h>

#include <string>

#include "server/exchange/family.h"

namespace alate::server {
namespace {

using pipelines::ChatRequest;
using pipelines::ToolChoice;

ChatRequest read(const std::string& members) {
  return read_response_input(formats::parse_json("{" + members + "}", "the body"));
}
std::string messages_of(const std::string& members) { return formats::to_json_text(read(members).messages); }

Problem refusal_of(const std::string& members) {
  try {
    read(members);
  } catch (const RequestError& error) {
    return error.problem();
  }
  ADD_FAILURE() << members << " is not refused";
  return {};
}

TEST(OpenAiResponseInput, TextIsWhatTheUserSays) {
  EXPECT_EQ(messages_of(R"("input":"a")"), R"([{"role":"user","content":"a"}])");
  EXPECT_EQ(messages_of(R"("input":"a","instructions":"s")"),
            R"([{"role":"system","content":"s"},{"role":"user","content":"a"}])");
}

TEST(OpenAiResponseInput, ItemsOfOneTurnAreOneMessage) {
  EXPECT_EQ(messages_of(R"("input":[{"role":"user","content":[{"type":"input_text","text":"a"}]},
                      {"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"so"}]},
                      {"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]},
                      {"type":"function_call","call_id":"1","name":"find","arguments":"{}"},
                      {"type":"function_call","call_id":"2","name":"go","arguments":"{}"},
                      {"type":"function_call_output","call_id":"1","output":"x"},
                      {"type":"function_call_output","call_id":"2","output":[{"type":"input_text","text":"y"}]},
                      {"role":"assistant","content":"c"},{"role":"assistant","content":"d"}])"),
            R"([{"role":"user","content":"a"},)"
            R"({"role":"assistant","content":"b","reasoning_content":"so","tool_calls":[)"
            R"({"id":"1","type":"function","function":{"name":"find","arguments":"{}"}},)"
            R"({"id":"2","type":"function","function":{"name":"go","arguments":"{}"}}]},)"
            R"({"role":"tool","tool_call_id":"1","content":"x"},{"role":"tool","tool_call_id":"2","content":"y"},)"
            R"({"role":"assistant","content":"c"},{"role":"assistant","content":"d"}])");
}

TEST(OpenAiResponseInput, ReasoningWithoutItsTextIsLeftOut) {
  EXPECT_EQ(messages_of(R"("input":[{"type":"reasoning","id":"rs_1","summary":[]},{"role":"user","content":"a"}])"),
            R"([{"role":"user","content":"a"}])");
}

TEST(OpenAiResponseInput, ToolsAreInTheShapeOfResponses) {
  const ChatRequest request = read(R"("input":"a","tool_choice":{"type":"function","name":"find"},"tools":[
      {"type":"function","name":"find","description":"d","parameters":{"type":"object"},"strict":true}])");
  EXPECT_EQ(formats::to_json_text(request.tools),
            R"([{"type":"function","function":{"name":"find","description":"d","parameters":{"type":"object"},)"
            R"("strict":true}}])");
  EXPECT_EQ(request.tool_choice.kind, ToolChoice::Kind::named);
  EXPECT_EQ(refusal_of(R"("input":"a","tools":[{"type":"web_search"}])").message,
            "tools[0] is of the type \"web_search\", which this server does not have; give tools of the type "
            "\"function\"");
  EXPECT_EQ(refusal_of(R"("input":"a","tool_choice":{"type":"function","name":"go"})").parameter, "tool_choice");
}

TEST(OpenAiResponseInput, FormatAndReasoning) {
  const ChatRequest request = read(R"("input":"a","reasoning":{"effort":"low"},"text":{"format":
      {"type":"json_schema","name":"n","strict":true,"schema":{"type":"object"}}})");
  EXPECT_EQ(request.format, (OutputFormat{OutputFormat::Kind::json_schema, R"({"type":"object"})"}));
  EXPECT_EQ(request.reasoning_effort, "low");
  EXPECT_EQ(refusal_of(R"("input":"a","text":{"format":{"type":"xml"}})").parameter, "text");
}

TEST(OpenAiResponseInput, NothingIsStored) {
  for (const char* member : {R"("previous_response_id":"resp_1")", R"("conversation":"conv_1")",
                             R"("prompt":{"id":"p"})", R"("background":true)"}) {
    const Problem problem = refusal_of(R"("input":"a",)" + std::string(member));
    EXPECT_EQ(problem.kind, Problem::Kind::unsupported) << member;
    EXPECT_NE(problem.message.find("nothing is stored here"), std::string::npos) << member;
  }
  EXPECT_EQ(refusal_of(R"("input":[{"type":"item_reference","id":"msg_1"}])").parameter, "input");
  read(R"("input":"a","previous_response_id":null,"background":false,"store":true)");
}

TEST(OpenAiResponseInput, ItemsThatAreNoneAreRefusedByName) {
  for (const char* item :
       {R"({"type":"web_search_call"})", R"({"role":"user"})", R"({"role":"tool","content":"a"})",
        R"({"role":"user","content":[{"type":"input_image","image_url":"x"}]})", R"({"type":"function_call"})", "5",
        R"({"type":"function_call_output","call_id":"1"})", R"({"role":"user","content":5})"})
    EXPECT_EQ(refusal_of(R"("input":[)" + std::string(item) + "]").parameter, "input") << item;
  EXPECT_EQ(refusal_of(R"("input":[{"type":"reasoning","summary":[]}])").kind, Problem::Kind::empty);
}

}  // namespace
}  // namespace alate::server
