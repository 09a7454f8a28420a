// Conversations of any API as prompts of any family.
#include "pipelines/generate/chat_prompt.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "alate/error.h"
#include "pipelines/generate/chat_messages.h"
#include "pipelines/generate/chat_tools.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/pipelines/family_templates.h"

namespace alate::pipelines {
namespace {

formats::Json json(std::string_view text) { return formats::parse_json(text, "test"); }

constexpr std::string_view kTools =
    R"([{"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{"zone":{"type":"string"}}},"strict":true}}])";
// A call and its result between two questions.
constexpr std::string_view kCalled =
    R"([{"role":"user","content":"q"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"call_123456789","type":"function","function":{"name":"now","arguments":"{\"zone\":\"CET\"}"}}]},
        {"role":"tool","tool_call_id":"call_123456789","content":"12:00"},
        {"role":"user","content":"r"}])";
constexpr std::string_view kCalledTwice =
    R"([{"role":"user","content":"q"},
        {"role":"assistant","content":"c","tool_calls":[{"id":"a","type":"function","function":{"name":"now","arguments":"{}"}},
                                            {"id":"b","type":"function","function":{"name":"now","arguments":""}}]},
        {"role":"tool","tool_call_id":"b","content":"2"},{"role":"tool","tool_call_id":"a","content":"1"}])";

std::string prompt(std::string_view text, std::string_view messages, std::string_view tools = "",
                   ChatRequest request = {}) {
  const ChatDialect dialect(ChatTemplate(text, {{"bos_token", "<s>"}, {"eos_token", "</s>"}}));
  request.messages = json(messages);
  if (!tools.empty()) request.tools = json(tools);
  return chat_prompt(dialect, request, checked_tools(request.tools, request.tool_choice));
}

std::string refusal(std::string_view messages, std::string_view tools = "", const ChatRequest& request = {}) {
  const Error error = base::error_of([&] { (void)prompt(tests::kPlainTemplate, messages, tools, request); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  return error.message();
}

TEST(ChatPrompt, ContentsAreTextsOrPartsOfText) {
  EXPECT_EQ(
      prompt(
          tests::kPlainTemplate,
          R"([{"role":"developer","content":"s"},{"role":"user","name":"x","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
                       {"role":"assistant","content":null,"refusal":"no"},{"role":"user","content":""}])"),
      "<|system|>s<|end|><|user|>a\nb<|end|><|assistant|>no<|end|><|user|><|end|><|assistant|>");
}

TEST(ChatPrompt, OtherContentsAreRefusedByName) {
  EXPECT_EQ(
      refusal(
          R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"http://x"}}]}])"),
      "messages[0].content[1] is of the type \"image_url\", which is not supported: only parts of the type text are");
  EXPECT_EQ(refusal(R"([{"role":"user","content":null}])"),
            "messages[0].content is missing: a text or a list of parts is expected");
  EXPECT_EQ(refusal(R"([{"role":"user","content":5}])"),
            "messages[0].content is number where a text or a list of parts is expected");
  EXPECT_EQ(refusal(R"([{"role":"critic","content":"a"}])"),
            "messages[0].role is \"critic\": it may be system, developer, user, assistant or tool");
  EXPECT_EQ(refusal("[]"), "messages must be a list of at least one message");
  EXPECT_EQ(refusal(R"([7])"), "messages[0] is number where an object is expected");
}

TEST(ChatPrompt, CallsBecomeObjectsAsTemplatesExpect) {
  EXPECT_EQ(
      prompt(tests::kQwenTemplate, kCalled),
      "<|user|>q<|end|><|assistant|><tool_call>{\"name\": \"now\", \"arguments\": {\"zone\": \"CET\"}}</tool_call>"
      "<|end|><|user|><tool_response>12:00</tool_response><|end|><|user|>r<|end|><|assistant|>");
  const std::string listed = prompt(tests::kQwenTemplate, R"([{"role":"user","content":"q"}])", kTools);
  EXPECT_NE(
      listed.find(
          R"({"type": "function", "function": {"name": "now", "description": "", "parameters": {"type": "object")"),
      std::string::npos)
      << listed;
  EXPECT_EQ(listed.find("strict"), std::string::npos);
}

TEST(ChatPrompt, CallsAreGivenAsTheTemplateCanWriteThem) {
  // Nine letters and digits, and no system.
  EXPECT_EQ(prompt(tests::kMistralTemplate, kCalled),
            "<s>[INST]q[/INST][TOOL_CALLS][{\"name\": \"now\", \"arguments\": {\"zone\": \"CET\"}, \"id\": "
            "\"call00001\"}]</s>"
            "[TOOL_RESULTS]12:00[/TOOL_RESULTS][INST]r[/INST]");
  // One call a message.
  EXPECT_EQ(prompt(tests::kLlamaTemplate, kCalledTwice),
            "<s><|user|>q<|eot|><|assistant|>{\"name\": \"now\", \"parameters\": {}}<|eot|><|ipython|>1<|eot|>"
            "<|assistant|>{\"name\": \"now\", \"parameters\": {}}<|eot|><|ipython|>2<|eot|><|assistant|>");
  // Arguments as text.
  EXPECT_NE(prompt(tests::kTextArgumentsTemplate, kCalled).find(R"("arguments": {"zone":"CET"}})"), std::string::npos);
}

TEST(ChatPrompt, ToolsAreToldToModelsWhoseTemplatesHaveNone) {
  const std::string plain =
      prompt(tests::kPlainTemplate, R"([{"role":"system","content":"s"},{"role":"user","content":"q"}])", kTools);
  EXPECT_TRUE(plain.starts_with("<|system|>s\n\nYou can call tools.")) << plain;
  EXPECT_NE(plain.find("{\"type\":\"function\",\"function\":{\"name\":\"now\""), std::string::npos) << plain;
  EXPECT_NE(plain.find("<tool_call>\n{\"name\": \"TOOL\", \"arguments\": {\"ARGUMENT\": VALUE}}\n</tool_call>"),
            std::string::npos);
  EXPECT_NE(prompt(tests::kUnknownFormatTemplate, kCalled, kTools).find("You can call tools."), std::string::npos);
  // Calls and results are texts then, and the turns still alternate.
  const std::string gemma = prompt(tests::kGemmaTemplate, kCalledTwice, kTools);
  EXPECT_TRUE(gemma.starts_with("<s><start>user\nYou can call tools.")) << gemma;
  EXPECT_TRUE(
      gemma.ends_with("\n\nq<end><start>model\nc\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>\n"
                      "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call><end><start>user\n"
                      "<tool_response>\n2\n</tool_response>\n<tool_response>\n1\n</tool_response><end><start>model\n"))
      << gemma;
  ChatRequest named;
  named.tool_choice = {ToolChoice::Kind::named, "now"};
  EXPECT_NE(
      prompt(tests::kPlainTemplate, R"([{"role":"user","content":"q"}])", kTools, named).find("You must call now now."),
      std::string::npos);
}

TEST(ChatPrompt, ToolsAreWhereTheFamilyFindsThem) {
  const std::string phi = prompt(tests::kPhiTemplate, R"([{"role":"user","content":"q"}])", kTools);
  EXPECT_TRUE(phi.starts_with("<|system|><|tool|>[{\"type\":\"function\"")) << phi;
  const std::string smol = prompt(tests::kSmolTemplate, kCalled, kTools);
  EXPECT_TRUE(smol.starts_with("<tools>{'type': 'function'")) << smol;
  EXPECT_NE(
      smol.find("<|assistant|><tool_call>\n{\"name\": \"now\", \"arguments\": {\"zone\":\"CET\"}}\n</tool_call><|end|>"
                "<|user|>12:00<|end|>"),
      std::string::npos)
      << smol;
}

TEST(ChatPrompt, CallsThatTheTemplateDoesNotWriteAreTextInTheModelsFormat) {
  EXPECT_NE(prompt(tests::kSmolTemplate, kCalledTwice, kTools)
                .find("c\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n"),
            std::string::npos);
  EXPECT_NE(prompt(tests::kPhiTemplate, kCalledTwice, kTools)
                .find("c\n<|tool_call|>[{\"name\": \"now\", \"arguments\": {}}, {\"name\": \"now\", \"arguments\": {}}]"
                      "<|/tool_call|><|end|>"),
            std::string::npos);
}

TEST(ChatPrompt, WithoutAChoiceOfToolsNoneAreListed) {
  ChatRequest request;
  request.tool_choice.kind = ToolChoice::Kind::none;
  EXPECT_EQ(prompt(tests::kQwenTemplate, R"([{"role":"user","content":"q"}])", kTools, request),
            "<|user|>q<|end|><|assistant|>");
}

TEST(ChatPrompt, OldFunctionCallsAreCallsOfTools) {
  EXPECT_EQ(
      prompt(
          tests::kQwenTemplate,
          R"([{"role":"user","content":"q"},{"role":"assistant","content":null,"function_call":{"name":"now","arguments":"{}"}},
                       {"role":"function","name":"now","content":"12:00"}])"),
      "<|user|>q<|end|><|assistant|><tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call><|end|>"
      "<|user|><tool_response>12:00</tool_response><|end|><|assistant|>");
}

TEST(ChatPrompt, ResultsBelongToCallsBeforeThem) {
  constexpr std::string_view kCall =
      R"({"role":"assistant","tool_calls":[{"id":"a","function":{"name":"now","arguments":"{}"}}]})";
  const auto after_call = [&](std::string_view rest) {
    return R"([{"role":"user","content":"q"},)" + std::string(kCall) + "," + std::string(rest) + "]";
  };
  EXPECT_EQ(refusal(after_call(R"({"role":"tool","tool_call_id":"b","content":"x"})")),
            "messages[2].tool_call_id is \"b\", which is no open call of the assistant's message before it");
  EXPECT_EQ(
      refusal(after_call(
          R"({"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"a","content":"x"})")),
      "messages[3].tool_call_id is \"a\", which is no open call of the assistant's message before it");
  EXPECT_EQ(refusal(R"([{"role":"tool","content":"x"}])"),
            "messages[0] is the result of a tool, but the messages before it leave no call open");
  EXPECT_EQ(refusal(R"([{"role":"user","content":"x","tool_calls":[]}])"),
            "messages[0].tool_calls: only messages of the assistant have calls");
  const auto with_arguments = [&](std::string_view arguments) {
    return R"([{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"now","arguments":)" +
           std::string(arguments) + "}}]}]";
  };
  EXPECT_EQ(refusal(with_arguments("\"{\"")),
            "messages[0].tool_calls[0].function.arguments is not valid JSON: the JSON text of an object is expected");
  EXPECT_EQ(refusal(with_arguments("\"[1]\"")),
            "messages[0].tool_calls[0].function.arguments is array where an object is expected");
  // Without an id, the first open call of that name.
  EXPECT_NO_THROW((void)prompt(tests::kQwenTemplate, after_call(R"({"role":"tool","name":"now","content":"x"})")));
}

TEST(ChatPrompt, ResultsOfManyCallsAreFoundInTimeInProportion) {
  constexpr int kMany = 20000;
  std::string calls, results;
  for (int i = 0; i < kMany; ++i) {
    const std::string comma = i == 0 ? "" : ",";
    calls += comma + R"({"id":"c)" + std::to_string(i) + R"(","function":{"name":"now"}})";
    results += R"(,{"role":"tool","tool_call_id":"c)" + std::to_string(kMany - 1 - i) + R"(","content":"x"})";
  }
  const auto messages = checked_messages(json(R"([{"role":"assistant","tool_calls":[)" + calls + "]}" + results + "]"));
  EXPECT_EQ(messages.size(), kMany + 1U);
  EXPECT_EQ(messages.back().call_id, "c0");
}

TEST(ChatPrompt, ToolsThatCannotBeCalledAreRefused) {
  constexpr std::string_view kMessages = R"([{"role":"user","content":"q"}])";
  EXPECT_EQ(refusal(kMessages, R"([{"type":"web_search"}])"),
            "tools[0].type is \"web_search\": only tools of the type function can be called");
  EXPECT_EQ(refusal(kMessages, R"([{"type":"function"}])"),
            "tools[0].function is missing: an object with a name is expected");
  EXPECT_TRUE(refusal(kMessages, R"([{"type":"function","function":{"name":"a b"}}])")
                  .starts_with("tools[0].function.name is \"a b\": names have"));
  EXPECT_EQ(refusal(kMessages, R"([{"function":{"name":"a"}},{"function":{"name":"a"}}])"),
            "tools[1].function.name \"a\" occurs twice: names must differ");
  EXPECT_EQ(refusal(kMessages, R"([{"function":{"name":"a","parameters":[]}}])"),
            "tools[0].function.parameters is array where a JSON schema of an object is expected");
  EXPECT_EQ(refusal(kMessages, R"([{"function":{"name":"a","parameters":{"properties":[]}}}])"),
            "tools[0].function.parameters.properties is array where an object is expected");
  ChatRequest request;
  request.tool_choice = {ToolChoice::Kind::named, "b"};
  EXPECT_EQ(refusal(kMessages, R"([{"function":{"name":"a"}}])", request),
            "tool_choice names \"b\", which is none of the tools");
  request.tool_choice = {ToolChoice::Kind::required, ""};
  EXPECT_EQ(refusal(kMessages, "", request), "tool_choice asks for a call of a tool, but there are no tools");
}

TEST(ChatPrompt, VariablesReachTheTemplateButReplaceNothing) {
  constexpr std::string_view kTemplate =
      "{{ style }}|{{ enable_thinking }}|{{ reasoning_effort }}|{{ bos_token }}|{{ messages[0].content }}";
  constexpr std::string_view kMessages = R"([{"role":"user","content":"q"}])";
  ChatRequest request;
  request.thinks = false;
  request.reasoning_effort = "low";
  request.variables = json(R"({"style":"s"})");
  EXPECT_EQ(prompt(kTemplate, kMessages, "", request), "s|False|low|<s>|q");
  request.thinks.reset();
  request.reasoning_effort = "none";
  EXPECT_EQ(prompt(kTemplate, kMessages, "", request), "s|False|none|<s>|q");
  for (const std::string_view name :
       {"messages", "tools", "bos_token", "chat_template", "add_generation_prompt", "raise_exception"}) {
    ChatRequest hostile;
    hostile.variables = formats::Json::Object{{std::string(name), "x"}};
    EXPECT_EQ(refusal(kMessages, "", hostile),
              "the variable \"" + std::string(name) + "\" of the chat template cannot be set by a request");
  }
  ChatRequest hostile;
  hostile.variables = formats::Json::Object{{"a b", "x"}};
  EXPECT_TRUE(refusal(kMessages, "", hostile).starts_with("a variable of the chat template is named \"a b\""));
}

TEST(ChatPrompt, GoesOnWithAnAnswerThatHasBegun) {
  ChatRequest request;
  request.continues_last = true;
  EXPECT_EQ(prompt(tests::kPlainTemplate, R"([{"role":"user","content":"q"},{"role":"assistant","content":"It is"}])",
                   "", request),
            "<|user|>q<|end|><|assistant|>It is");
  EXPECT_EQ(refusal(R"([{"role":"user","content":"q"}])", "", request),
            "messages[0] is to be continued: only a text of the assistant, without calls of tools, can be");
}

TEST(ChatPrompt, ReasoningOfEarlierAnswersIsForTheTemplateToWrite) {
  EXPECT_EQ(prompt("{% for m in messages %}{{ m.reasoning_content }}|{{ m.content }}{% endfor %}",
                   R"([{"role":"assistant","content":"a","reasoning_content":"r"}])"),
            "r|a");
}

}  // namespace
}  // namespace alate::pipelines
