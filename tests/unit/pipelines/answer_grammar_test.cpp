// Answers that are held to formats and to calls of tools.
#include "pipelines/generate/answer_grammar.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "pipelines/generate/chat_tools.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/generation/constraint/constrained_texts.h"
#include "tests/unit/pipelines/answer_testing.h"

namespace alate::pipelines {
namespace {

using generation::fit;
using generation::Fit;
using generation::fits;
using Choice = ToolChoice::Kind;

ChatRequest with_tools(Choice choice, bool parallel = true, std::string name = "") {
  ChatRequest request;
  request.tools = tests::weather_tools();
  request.tool_choice = {choice, std::move(name)};
  request.parallel_tool_calls = parallel;
  return request;
}

GenerationOptions held(const std::shared_ptr<const AnswerSyntax>& syntax, const ChatRequest& request) {
  GenerationOptions options;
  hold_answer(options, *syntax, request, checked_tools(request.tools, request.tool_choice), KnownGrammars(),
              base::Cancellation::never());
  return options;
}

std::shared_ptr<const generation::Grammar> grammar(std::string_view format, const ChatRequest& request,
                                                   std::string_view prompt = "") {
  return held(tests::syntax_of(format, prompt), request).grammar;
}

constexpr std::string_view kNow = "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>";
constexpr std::string_view kParis =
    "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 2}}\n</tool_call>";

TEST(AnswerGrammar, RequiredCallsAreAllThatCanBeWritten) {
  const auto required = grammar("hermes", with_tools(Choice::required));
  ASSERT_NE(required, nullptr);
  EXPECT_TRUE(fits(*required, kNow));
  EXPECT_TRUE(fits(*required, std::string(kParis) + "\n" + std::string(kNow)));
  EXPECT_EQ(fit(*required, ""), Fit::begins);
  EXPECT_EQ(fit(*required, "Hello"), Fit::no);
  EXPECT_EQ(fit(*required, "<tool_call>\n{\"name\": \"later\""), Fit::no);
  EXPECT_EQ(fit(*required, "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {}"), Fit::no);  // no city
}

TEST(AnswerGrammar, ANamedToolIsTheOnlyOne) {
  const auto named = grammar("hermes", with_tools(Choice::named, true, "get_weather"));
  EXPECT_TRUE(fits(*named, kParis));
  EXPECT_EQ(fit(*named, "<tool_call>\n{\"name\": \"n"), Fit::no);
}

TEST(AnswerGrammar, WithoutParallelCallsThereIsOne) {
  for (const Choice choice : {Choice::required, Choice::automatic}) {
    const auto one = grammar("hermes", with_tools(choice, false));
    EXPECT_TRUE(fits(*one, kNow));
    EXPECT_EQ(fit(*one, std::string(kNow) + "\n<"), Fit::no);
  }
}

TEST(AnswerGrammar, TextIsFreeUntilACallBegins) {
  const auto automatic = grammar("hermes", with_tools(Choice::automatic));
  EXPECT_TRUE(fits(*automatic, "Hello <tool> {\"name\""));
  EXPECT_TRUE(fits(*automatic, "Wait. " + std::string(kNow) + "\n" + std::string(kParis) + " Done."));
  EXPECT_EQ(fit(*automatic, "Wait. <tool_call>"), Fit::begins);
  EXPECT_EQ(fit(*automatic, "Wait. <tool_call>{\"name\": \"later"), Fit::no);
  // Without a marker a call is not told from an answer.
  EXPECT_EQ(grammar("llama3", with_tools(Choice::automatic)), nullptr);
}

TEST(AnswerGrammar, HasCallsInTheFormatOfEachFamily) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"qwen_xml",
       "<tool_call>\n<function=get_weather>\n<parameter=city>\nNew York\n</parameter>\n<parameter=days>\n3\n"
       "</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=now>\n</function>\n</tool_call>"},
      {"minicpm_xml", "<function name=\"get_weather\"><param name=\"city\">Paris</param></function>"},
      {"glm", "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>"},
      {"functionary", "<function=get_weather>{\"city\": \"Paris\"}</function>"},
      {"mistral_args", "[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Paris\"}[TOOL_CALLS]now[ARGS]{}"},
      {"mistral",
       "[TOOL_CALLS][{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}, "
       "{\"name\": \"now\", \"arguments\": {}}]"},
      {"phi4", "<|tool_call|>[{\"name\": \"now\", \"arguments\": {}}]<|/tool_call|>"},
      {"granite", "<|tool_call|>[{\"name\": \"now\", \"arguments\": {}}]"},
      {"command_r", "<|START_ACTION|>[\n    {\"tool_name\": \"now\", \"parameters\": {}}\n]<|END_ACTION|>"},
      {"deepseek_v3",
       "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
       "{\"city\": \"Paris\"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n"
       "```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"},
      {"kimi",
       "<|tool_calls_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}"
       "<|tool_call_end|><|tool_calls_section_end|>"},
      {"llama3", "{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Paris\"}}"},
  };
  for (const auto& [format, answer] : cases) {
    const auto required = grammar(format, with_tools(Choice::required));
    EXPECT_TRUE(fits(*required, answer)) << format;
    EXPECT_EQ(fit(*required, "Hello"), Fit::no) << format;
    // What may be written is what is read.
    EXPECT_TRUE(tests::read_answer(tests::syntax_of(format), answer)[0].starts_with("call:")) << format;
  }
}

TEST(AnswerGrammar, ReasoningIsFree) {
  ChatRequest request;
  request.format.kind = OutputFormat::Kind::json;
  const auto begun = grammar("", request, "<think>\n");
  EXPECT_TRUE(fits(*begun, "Hm, {\"a\n</think>\n\n{\"a\": 1}"));
  EXPECT_EQ(fit(*begun, "{\"a\": 1}"), Fit::begins);
  EXPECT_EQ(fit(*begun, "Hm.</think>\n\nNo"), Fit::no);
  const auto with_calls = grammar("hermes", with_tools(Choice::required), "<think>\n");
  EXPECT_TRUE(fits(*with_calls, "I write <tool_call>: no. </think>\n\n" + std::string(kNow)));
  // The model may begin it, if its tokenizer has the tag and the request lets it.
  const auto may_reason = held(tests::syntax_of("", "", {"<think>"}), request);
  EXPECT_TRUE(fits(*may_reason.grammar, "{\"a\": 1}"));
  EXPECT_EQ(fit(*may_reason.grammar, "Hm."), Fit::no);
  request.thinks = false;
  const auto not_now = held(tests::syntax_of("", "", {"<think>"}), request);
  EXPECT_EQ(not_now.grammar, nullptr);
  EXPECT_EQ(not_now.format, request.format);
}

TEST(AnswerGrammar, AFormatHoldsForTextsAndNotForCalls) {
  ChatRequest request = with_tools(Choice::automatic);
  request.format = {OutputFormat::Kind::regex, "[a-c]+"};
  const auto either = grammar("hermes", request);
  EXPECT_TRUE(fits(*either, "abc"));
  EXPECT_TRUE(fits(*either, kNow));
  EXPECT_EQ(fit(*either, "abd"), Fit::no);
}

TEST(AnswerGrammar, OfSchemasThatCannotBeKeptOnlyStrictOnesAreRefused) {
  ChatRequest request;
  const auto tools = [](std::string_view strict) {
    return formats::parse_json(R"([{"type":"function","function":{"name":"f","strict":)" + std::string(strict) +
                                   R"(,"parameters":{"type":"object","properties":{"x":{"$dynamicRef":"#a"}}}}}])",
                               "tools");
  };
  request.tools = tools("false");
  request.tool_choice.kind = Choice::required;
  EXPECT_TRUE(
      fits(*grammar("hermes", request), "<tool_call>{\"name\": \"f\", \"arguments\": {\"y\": []}}</tool_call>"));
  request.tools = tools("true");
  const Error error = base::error_of([&] { (void)grammar("hermes", request); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("the parameters of the tool f"), std::string::npos) << error.message();
}

TEST(AnswerGrammar, TheSameRequestHasTheSameGrammarAgain) {
  const KnownGrammars known;
  const auto syntax = tests::syntax_of("hermes");
  const auto made = [&](const ChatRequest& request) {
    GenerationOptions options;
    hold_answer(options, *syntax, request, checked_tools(request.tools, request.tool_choice), known,
                base::Cancellation::never());
    return options.grammar;
  };
  const auto first = made(with_tools(Choice::required));
  EXPECT_EQ(made(with_tools(Choice::required)), first);
  EXPECT_NE(made(with_tools(Choice::automatic)), first);
  EXPECT_NE(made(with_tools(Choice::required, false)), first);
  EXPECT_NE(made(with_tools(Choice::named, true, "now")), first);
  EXPECT_EQ(made(with_tools(Choice::required)), first);
  // Only the latest are kept.
  for (int i = 0; i < 20; ++i) {
    ChatRequest other = with_tools(Choice::automatic);
    other.format = {OutputFormat::Kind::regex, "a{" + std::to_string(i + 1) + "}"};
    (void)made(other);
  }
  EXPECT_NE(made(with_tools(Choice::required)), first);
}

TEST(AnswerGrammar, WithoutFormatAndToolsThereIsNone) {
  const GenerationOptions options = held(tests::syntax_of("", "<think>"), ChatRequest());
  EXPECT_EQ(options.grammar, nullptr);
  EXPECT_EQ(options.format.kind, OutputFormat::Kind::text);
}

}  // namespace
}  // namespace alate::pipelines
