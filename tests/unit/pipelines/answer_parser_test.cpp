// Answers taken apart: reasoning, text, and calls in the format of each family, as its model cards and templates show
// them.
#include "pipelines/generate/answer_parser.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/pipelines/answer_testing.h"

namespace alate::pipelines {
namespace {

using tests::read_answer;
using tests::syntax_of;
using Parts = std::vector<std::string>;

const Parts kParis = {"call:get_weather", "arguments:{\"city\": \"Paris\"}"};
const Parts kParisAndNow = {"call:get_weather", "arguments:{\"city\": \"Paris\"}", "call:now", "arguments:{}"};

TEST(AnswerReasoning, IsWhatStandsBetweenTheTagsHoweverTheAnswerIsCut) {
  EXPECT_EQ(read_answer(syntax_of(""), "<think>\nIs it 4?\n\nYes.\n</think>\n\nIt is 4."),
            (Parts{"reasoning:Is it 4?\n\nYes.", "text:It is 4."}));
  EXPECT_EQ(read_answer(syntax_of(""), "\n<think>\n\n</think>\n\nIt is 4."), Parts{"text:It is 4."});
  EXPECT_EQ(read_answer(syntax_of("", "assistant\n<think>\n"), "a </thin b</think>c"),
            (Parts{"reasoning:a </thin b", "text:c"}));
  EXPECT_EQ(read_answer(syntax_of("", "<think>"), "never ended </thi"), Parts{"reasoning:never ended </thi"});
  EXPECT_EQ(read_answer(syntax_of("", "<think>"), "a b \n"), Parts{"reasoning:a b \n"});
}

TEST(AnswerReasoning, AnswersWithoutItAreUnchanged) {
  EXPECT_EQ(read_answer(syntax_of(""), "  The tag <think> is one.\n"), Parts{"text:  The tag <think> is one.\n"});
  EXPECT_EQ(read_answer(syntax_of(""), "<thin"), Parts{"text:<thin"});
  EXPECT_EQ(read_answer(syntax_of(""), "\n"), Parts{"text:\n"});
  EXPECT_EQ(read_answer(syntax_of(""), ""), Parts{});
  EXPECT_EQ(read_answer(nullptr, "<think>a</think>b"), Parts{"text:<think>a</think>b"});
}

TEST(AnswerReasoning, HasTheTagsThatTheTokenizerHas) {
  constexpr std::string_view kAnswer = "[THINK]Hm.[/THINK]Yes.";
  EXPECT_EQ(read_answer(syntax_of(""), kAnswer), Parts{"text:[THINK]Hm.[/THINK]Yes."});
  EXPECT_EQ(read_answer(syntax_of("", "", {"[THINK]", "[/THINK]"}), kAnswer), (Parts{"reasoning:Hm.", "text:Yes."}));
}

TEST(AnswerReasoning, LeavesOutTheTagsOfTheResponseThatThePromptAskedFor) {
  const auto granite = syntax_of("", "Write between <think></think> and <response></response>.");
  EXPECT_EQ(read_answer(granite, "<think>Hm.</think>\n<response>\nYes.\n</response>"),
            (Parts{"reasoning:Hm.", "text:Yes."}));
  EXPECT_EQ(read_answer(syntax_of(""), "<think>Hm.</think><response>Yes."),
            (Parts{"reasoning:Hm.", "text:<response>Yes."}));
}

TEST(AnswerReasoning, IsShownAsSoonAsItIsCertain) {
  AnswerParser parser(syntax_of(""));
  std::vector<AnswerPiece> pieces;
  parser.add("<think>one", pieces);
  EXPECT_EQ(tests::joined(pieces), Parts{"reasoning:one"});
  parser.add(" two</th", pieces);
  EXPECT_EQ(tests::joined(pieces), Parts{"reasoning:one two"});
  parser.add("ink> three", pieces);
  EXPECT_EQ(tests::joined(pieces), (Parts{"reasoning:one two", "text:three"}));
}

TEST(AnswerCalls, OfHermesAndQwen) {
  const auto hermes = syntax_of("hermes");
  constexpr std::string_view kCall =
      "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>";
  EXPECT_EQ(read_answer(hermes, kCall), kParis);
  EXPECT_EQ(read_answer(hermes, "<think>\nI need it.\n</think>\n\n" + std::string(kCall)),
            (Parts{"reasoning:I need it.", kParis[0], kParis[1]}));
  EXPECT_EQ(read_answer(hermes, "Let me see.\n" + std::string(kCall) +
                                    "\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>\n"),
            (Parts{"text:Let me see.", kParis[0], kParis[1], "call:now", "arguments:{}"}));
  EXPECT_EQ(read_answer(hermes, std::string(kCall) + "\nDone."), (Parts{kParis[0], kParis[1], "text:Done."}));
}

TEST(AnswerCalls, OfQwen3Coder) {
  const auto coder = syntax_of("qwen_xml");
  EXPECT_EQ(
      read_answer(coder,
                  "I look.\n<tool_call>\n<function=get_weather>\n<parameter=city>\nNew \"York\"\n</parameter>\n"
                  "<parameter=days>\n3\n</parameter>\n<parameter=note>\n{\"a\": [true]}\n</parameter>\n"
                  "</function>\n</tool_call>\n<tool_call>\n<function=now>\n</function>\n</tool_call>"),
      (Parts{"text:I look.", "call:get_weather",
             R"(arguments:{"city": "New \"York\"", "days": 3, "note": {"a": [true]}})", "call:now", "arguments:{}"}));
  // Texts of several lines stay as they are, numbers that are none become strings, and the outer tag may be missing.
  EXPECT_EQ(read_answer(coder,
                        "<function=get_weather><parameter=city>\na\n<b> \n\n</parameter><parameter=days>soon"
                        "</parameter><parameter=note>True</parameter></function>"),
            (Parts{"call:get_weather", R"(arguments:{"city": "a\n<b> \n", "days": "soon", "note": true})"}));
}

TEST(AnswerCalls, OfLlama3) {
  const auto llama = syntax_of("llama3", "", {"<|python_tag|>", "<|eom_id|>"});
  constexpr std::string_view kCall = R"({"name": "get_weather", "parameters": {"city": "Paris"}})";
  EXPECT_EQ(read_answer(llama, kCall), kParis);
  EXPECT_EQ(read_answer(llama, "<|python_tag|>" + std::string(kCall)), kParis);
  EXPECT_EQ(read_answer(llama, std::string(kCall) + "; {\"name\": \"now\", \"parameters\": {}}"), kParisAndNow);
  EXPECT_EQ(read_answer(llama, R"({"type": "function", "function": "get_weather", "parameters": {"city": "Paris"}})"),
            kParis);
  // JSON that is an answer, of no tool, or not at the beginning, is text; a special token is never shown.
  for (const std::string_view text : {R"({"name": "Paris", "parameters": {"a": 1}})", R"({"city": "Paris"})",
                                      R"(Call {"name": "now", "parameters": {}} now)", "{", "{}"})
    EXPECT_EQ(read_answer(llama, text), Parts{"text:" + std::string(text)});
  EXPECT_EQ(read_answer(llama, "<|python_tag|>print(1)"), Parts{"text:print(1)"});
}

TEST(AnswerCalls, OfMistral) {
  const std::vector<std::string> special = {"[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"};
  EXPECT_EQ(read_answer(syntax_of("mistral", "", special),
                        "[TOOL_CALLS][{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}, "
                        "{\"name\": \"now\", \"arguments\": {}, \"id\": \"abcdefghi\"}]"),
            kParisAndNow);
  const auto args = syntax_of("mistral_args", "", special);
  EXPECT_EQ(read_answer(args, "[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Paris\"}[TOOL_CALLS]now[ARGS]{}"),
            kParisAndNow);
  EXPECT_EQ(read_answer(args, "Wait.[TOOL_CALLS]now[CALL_ID]abcdefghi[ARGS]{}"),
            (Parts{"text:Wait.", "call:now", "arguments:{}"}));
}

TEST(AnswerCalls, OfPhi4GraniteAndOthersWithLists) {
  const std::string list =
      R"([{"name": "get_weather", "arguments": {"city": "Paris"}}, {"name": "now", "arguments": {}}])";
  EXPECT_EQ(read_answer(syntax_of("phi4"), "<|tool_call|>" + list + "<|/tool_call|>"), kParisAndNow);
  EXPECT_EQ(read_answer(syntax_of("granite"), "<|tool_call|>" + list), kParisAndNow);
  EXPECT_EQ(read_answer(syntax_of("functools"), "functools" + list), kParisAndNow);
  EXPECT_EQ(read_answer(syntax_of("functools"), "Use functools.reduce"), Parts{"text:Use functools.reduce"});
  EXPECT_EQ(read_answer(syntax_of("nemotron"), "<TOOLCALL>" + list + "</TOOLCALL>"), kParisAndNow);
  EXPECT_EQ(read_answer(syntax_of("apriel"), "<tool_calls>" + list + "</tool_calls>"), kParisAndNow);
  EXPECT_EQ(
      read_answer(syntax_of("gigachat"), R"(<|function_call|>{"name": "get_weather", "arguments": {"city": "Paris"}})"),
      kParis);
  EXPECT_EQ(read_answer(syntax_of("command_r", "", {"<|START_ACTION|>", "<|END_ACTION|>"}),
                        "<|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"get_weather\", "
                        "\"parameters\": {\"city\": \"Paris\"}}\n]<|END_ACTION|>"),
            kParis);
}

TEST(AnswerCalls, OfDeepSeekKimiGlmAndOthers) {
  EXPECT_EQ(
      read_answer(syntax_of("deepseek_v3"),
                  "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
                  "{\"city\": \"Paris\"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n"
                  "```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"),
      kParisAndNow);
  EXPECT_EQ(
      read_answer(syntax_of("deepseek_v3.1"),
                  "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{\"city\": \"Paris\"}"
                  "<｜tool▁call▁end｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"),
      kParisAndNow);
  EXPECT_EQ(read_answer(syntax_of("kimi"),
                        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
                        "<|tool_call_argument_begin|>{\"city\": \"Paris\"}<|tool_call_end|><|tool_call_begin|>"
                        "functions.now:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"),
            kParisAndNow);
  EXPECT_EQ(read_answer(syntax_of("functionary"), "<function=get_weather>{\"city\": \"Paris\"}</function>"), kParis);
  EXPECT_EQ(read_answer(syntax_of("glm"),
                        "\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>"
                        "\n<tool_call>now</tool_call>"),
            kParisAndNow);
  EXPECT_EQ(read_answer(syntax_of("minimax_xml"),
                        "<minimax:tool_call>\n<invoke name=\"get_weather\">\n<parameter name=\"city\">Paris</parameter>"
                        "\n</invoke>\n<invoke name=\"now\">\n</invoke>\n</minimax:tool_call>"),
            kParisAndNow);
  EXPECT_EQ(read_answer(syntax_of("minicpm_xml"),
                        "<function name=\"get_weather\"><param name=\"city\">Paris</param></function>\n"
                        "<function name=\"now\"></function>"),
            kParisAndNow);
  EXPECT_EQ(read_answer(syntax_of("seed_xml"),
                        "<seed:tool_call>\n<function=get_weather>\n<parameter=city>Paris</parameter>\n</function>\n"
                        "</seed:tool_call>"),
            kParis);
}

TEST(AnswerCalls, WhatOnlyLooksLikeOneStaysText) {
  const auto hermes = syntax_of("hermes");
  for (const std::string_view text :
       {"Write <tool_call> first.", "<tool_call>", "<tool_call>\n{\"name\": \"now",
        "<tool_call>{\"name\": 5}</tool_call>", "<tool_call>{\"arguments\": {}}</tool_call>",
        "<tool_call>[]</tool_call>", "<tool_cal", "a <tool_call> b\n",
        "<tool_call>{\"name\": \"not a name\", \"arguments\": {}}</tool_call>", "  <tool_call", "{\"name\": \"now\"}"})
    EXPECT_EQ(read_answer(hermes, text), Parts{"text:" + std::string(text)});
  EXPECT_EQ(read_answer(hermes, "<tool_call><tool_call>{\"name\": \"now\"}</tool_call>"),
            (Parts{"text:<tool_call>", "call:now", "arguments:{}"}));
  const auto coder = syntax_of("qwen_xml");
  EXPECT_EQ(read_answer(coder, "<tool_call>\n<tool_call>\n<function=now>\n</function>\n</tool_call>"),
            (Parts{"text:<tool_call>", "call:now", "arguments:{}"}));
  // Without tools nothing is a call.
  EXPECT_EQ(read_answer(syntax_of(""), "<tool_call>{\"name\": \"now\"}</tool_call>"),
            Parts{"text:<tool_call>{\"name\": \"now\"}</tool_call>"});
}

TEST(AnswerCalls, AreReadWhateverTheOrderAndShapeOfTheirMembers) {
  const auto hermes = syntax_of("hermes");
  const auto read = [&](const std::string& object) {
    return read_answer(hermes, "<tool_call>" + object + "</tool_call>");
  };
  EXPECT_EQ(read(R"({"arguments": {"city": "Paris"}, "name": "get_weather"})"), kParis);
  EXPECT_EQ(read(R"({"id": [1, {"a": "}"}], "name": "get_weather", "arguments": {"city": "Paris"}, "x": null})"),
            kParis);
  EXPECT_EQ(read(R"({"name": "get_weather", "arguments": "{\"city\": \"Paris\"}"})"), kParis);
  EXPECT_EQ(read(R"({"type": "function", "function": {"name": "get_weather", "arguments": {"city": "Paris"}}})"),
            kParis);
  EXPECT_EQ(read(R"({"name": "get\u005fweather", "arguments": {"city": "Paris"}})"), kParis);
  EXPECT_EQ(read(R"({"name": "now", "arguments": null})"), (Parts{"call:now", "arguments:{}"}));
  EXPECT_EQ(read(R"({"name": "now"})"), (Parts{"call:now", "arguments:{}"}));
  // A bracket too few: what is there is given out, and the closing tag is no text.
  EXPECT_EQ(read(R"({"name": "get_weather", "arguments": {"city": "Paris"})"), kParis);
}

TEST(AnswerCalls, ObjectsAreReadWhereAModelOfAnotherFormatWritesThem) {
  const std::string object = R"({"name": "get_weather", "arguments": {"city": "Paris"}})";
  EXPECT_EQ(read_answer(syntax_of("qwen_xml"), "<tool_call>\n" + object + "\n</tool_call>"), kParis);
  EXPECT_EQ(read_answer(syntax_of("glm"), "<tool_call>" + object + "</tool_call>"), kParis);
  EXPECT_EQ(read_answer(syntax_of("mistral_args"), "[TOOL_CALLS][" + object + "]"), kParis);
}

TEST(AnswerCalls, ArgumentsAreGivenOutAsTheyAreWritten) {
  AnswerParser parser(syntax_of("hermes"));
  std::vector<AnswerPiece> pieces;
  parser.add("Hm. <tool_call>\n{\"name\": \"get_we", pieces);
  EXPECT_EQ(tests::joined(pieces), Parts{"text:Hm."});
  parser.add("ather\"", pieces);
  EXPECT_EQ(tests::joined(pieces), (Parts{"text:Hm.", "call:get_weather"}));
  parser.add(", \"arguments\": {\"ci", pieces);
  EXPECT_EQ(tests::joined(pieces).back(), "arguments:{\"ci");
  parser.add("ty\" :\t\"Z\\u00fcrich </tool_call>\"", pieces);
  EXPECT_EQ(tests::joined(pieces).back(), "arguments:{\"city\" :\t\"Z\\u00fcrich </tool_call>\"");
  // The answer ends in the middle: the call stays cut off.
  parser.finish(pieces);
  EXPECT_EQ(tests::joined(pieces).back(), "arguments:{\"city\" :\t\"Z\\u00fcrich </tool_call>\"");
}

TEST(AnswerCalls, OneThatIsCutOffBeforeItsNameIsNoTextAfterAnother) {
  const std::string call = "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>\n";
  EXPECT_EQ(read_answer(syntax_of("hermes"), call + "<tool_call>\n{\"name\":"), (Parts{"call:now", "arguments:{}"}));
  EXPECT_EQ(read_answer(syntax_of("mistral"), "[TOOL_CALLS][{\"name\": \"now\"}, {\"name\""),
            (Parts{"call:now", "arguments:{}"}));
}

TEST(AnswerCalls, AfterTheOnlyOneThatIsAllowedAreLeftOut) {
  const auto syntax = std::make_shared<const AnswerSyntax>(
      tests::tokenizer_with({}), "", &tests::format_named("llama3"), tests::weather_tools(), true);
  EXPECT_EQ(
      read_answer(syntax,
                  R"({"name": "now", "parameters": {}}; {"name": "get_weather", "parameters": {"city": "Paris"}})"),
      (Parts{"call:now", "arguments:{}"}));
}

TEST(AnswerCalls, OfStringsBetweenTagsComeInPiecesToo) {
  AnswerParser parser(syntax_of("qwen_xml"));
  std::vector<AnswerPiece> pieces;
  parser.add("<tool_call>\n<function=get_weather>\n<parameter=city>\nNew Yo", pieces);
  EXPECT_EQ(tests::joined(pieces), (Parts{"call:get_weather", "arguments:{\"city\": \"New Yo"}));
}

TEST(AnswerCalls, ThousandsAndEndlessOnesTakeTimeInProportion) {
  // What would take time in the square of these lengths takes hours.
  constexpr std::size_t kMany = 20000;
  std::string calls, begun = "<tool_call>{\"arguments\": ", nested = "<tool_call>{\"name\": \"now\", \"arguments\": ";
  std::string prefixes, objects = "<tool_call>";
  for (std::size_t i = 0; i < kMany; ++i) {
    calls += "<tool_call>{\"name\": \"now\"}</tool_call>\n";
    begun += "<tool_call>{\"arguments\": ";
    nested += "{\"a\": [";
    prefixes += "<tool_call><tool_cal ";
    objects += "{\"name\": \"now\"},";
  }
  const auto hermes = syntax_of("hermes");
  EXPECT_EQ(tests::read_cut(hermes, calls, 7).size(), 2 * kMany);
  EXPECT_EQ(tests::read_cut(hermes, objects, 7).size(), 2 * kMany);
  EXPECT_TRUE(tests::read_cut(hermes, begun, 7) == Parts{"text:" + begun});
  EXPECT_TRUE(tests::read_cut(hermes, nested, 7).back() == "arguments:" + nested.substr(nested.find("{\"a\"")));
  EXPECT_TRUE(tests::read_cut(hermes, prefixes, 7) == Parts{"text:" + prefixes});
  const std::string endless_name = "<function=" + std::string(kMany, 'a');
  EXPECT_EQ(tests::read_cut(syntax_of("qwen_xml"), endless_name, 7), Parts{"text:" + endless_name});
  const std::string endless_key = "<function=now><parameter=" + std::string(kMany, 'a');
  EXPECT_EQ(tests::read_cut(syntax_of("qwen_xml"), endless_key, 7)[0], "call:now");
}

}  // namespace
}  // namespace alate::pipelines
