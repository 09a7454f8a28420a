#include "server/api/ollama_answer.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "tests/unit/server/api/made_texts.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

// Without the time and the random part of ids.
std::string steady(std::string_view text) {
  std::string out = std::regex_replace(std::string(text), std::regex("call_[0-9A-Za-z]{24}"), "call_ID");
  return std::regex_replace(out, std::regex(R"("created_at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")"),
                            "\"created_at\":0");
}

std::vector<std::string> lines_of(std::string_view stream) {
  std::vector<std::string> lines;
  while (!stream.empty()) {
    const std::size_t end = stream.find('\n');
    EXPECT_NE(end, std::string_view::npos) << stream;
    lines.push_back(steady(stream.substr(0, end)));
    stream.remove_prefix(std::min(end + 1, stream.size()));
  }
  return lines;
}

constexpr const char* kEnd =
    R"("done":true,"done_reason":"stop","total_duration":50,"load_duration":10,"prompt_eval_count":12,)"
    R"("prompt_eval_duration":15,"eval_count":3,"eval_duration":20})";

std::string whole(OllamaQuestion question, MadeText text) {
  OllamaAnswer answer(std::move(question));
  return steady(answer.whole(one(std::move(text)), some_totals()).body);
}

OllamaQuestion chat() { return {.model = "acme/model", .is_chat = true}; }

TEST(OllamaAnswer, AGeneratedTextIsAResponse) {
  EXPECT_EQ(whole({.model = "acme/model"}, made_text({reasoning_piece("so"), text_piece("Hello")})),
            R"({"model":"acme/model","created_at":0,"response":"Hello","thinking":"so",)" + std::string(kEnd));
}

TEST(OllamaAnswer, ACallHasItsArgumentsAsAnObject) {
  EXPECT_EQ(whole(chat(), made_text({text_piece("I look."), call_piece("find"), arguments_piece("{\"a\":"),
                                     arguments_piece(" [1]}"), call_piece("ask", 1)})),
            R"({"model":"acme/model","created_at":0,"message":{"role":"assistant","content":"I look.","tool_calls":[)"
            R"({"id":"call_ID","function":{"index":0,"name":"find","arguments":{"a":[1]}}},)"
            R"({"id":"call_ID","function":{"index":1,"name":"ask","arguments":{}}}]},)" +
                std::string(kEnd));
}

TEST(OllamaAnswer, ACallThatWasCutOffIsNone) {
  MadeText text = made_text({call_piece("find"), arguments_piece("{\"a\":")});
  text.generation.finish = FinishReason::length;
  const std::string answer = whole(chat(), std::move(text));
  EXPECT_EQ(answer.find("tool_calls"), std::string::npos) << answer;
  EXPECT_NE(answer.find(R"("done_reason":"length")"), std::string::npos) << answer;
}

TEST(OllamaAnswer, AStreamHasALineForEachPieceAndOneForTheEnd) {
  OllamaAnswer answer(chat());
  const std::string head = R"({"model":"acme/model","created_at":0,"message":{"role":"assistant","content":)";
  const std::vector<std::string> wanted = {
      head + R"("","thinking":"so"},"done":false})",
      head + R"("He\n"},"done":false})",
      head + R"("llo"},"done":false})",
      head +
          R"("","tool_calls":[{"id":"call_ID","function":{"index":0,"name":"find","arguments":{"a":1}}}]},"done":false})",
      head + R"("","tool_calls":[{"id":"call_ID","function":{"index":1,"name":"ask","arguments":{}}}]},"done":false})",
      head + R"(""},)" + kEnd};
  EXPECT_EQ(
      lines_of(stream_of(answer, made_text({reasoning_piece("so"), text_piece("He\n"), text_piece("llo"),
                                            call_piece("find"), arguments_piece("{\"a\":1}"), call_piece("ask", 1)}))),
      wanted);
}

TEST(OllamaAnswer, PiecesOfOneStepAreALineUnlessTheirOrderWouldBeLost) {
  OllamaAnswer answer(chat());
  const Pieces pieces = {reasoning_piece("so"), text_piece("a"),    text_piece("b"), reasoning_piece("hm"),
                         text_piece("c"),       call_piece("find"), text_piece("d")};
  std::string out;
  answer.add(progress(pieces), out);
  answer.add({}, out);  // nothing new
  const auto lines = lines_of(out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[0].find(R"("content":"ab","thinking":"so")"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find(R"("content":"c","thinking":"hm","tool_calls")"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find(R"("content":"d"})"), std::string::npos) << lines[2];
}

TEST(OllamaAnswer, AnErrorInTheMiddleIsALineAndSignsOfLifeAreBlanksBeforeOne) {
  OllamaAnswer answer({.model = "acme/model"});
  std::string out(answer.keep_alive());
  answer.add(progress(text_piece("a")), out);
  answer.fail(going_down(), out);
  EXPECT_EQ(lines_of(out),
            (std::vector<std::string>{R"( {"model":"acme/model","created_at":0,"response":"a","done":false})",
                                      R"({"error":"going down"})"}));
}

TEST(OllamaAnswer, LoadingAnswersInTheShapeOfTheRoute) {
  EXPECT_EQ(steady(formats::to_json_text(ollama_load_answer({.model = "acme/model"}, "load"))),
            R"({"model":"acme/model","created_at":0,"response":"","done":true,"done_reason":"load"})");
  EXPECT_EQ(steady(formats::to_json_text(ollama_load_answer(chat(), "unload"))),
            R"({"model":"acme/model","created_at":0,"message":{"role":"assistant","content":""},"done":true,)"
            R"("done_reason":"unload"})");
}

class OllamaAnswerOfAModel : public ModelHostTest {
 protected:
  OllamaAnswerOfAModel() { add("acme/mean"); }
};

TEST_F(OllamaAnswerOfAModel, NamesTokensWithTheirLogProbabilities) {
  const auto model = acquire("acme/mean").model();
  const std::int32_t cat = *model->tokenizer().token_to_id("cat"), the = *model->tokenizer().token_to_id("the");
  OllamaAnswer answer({.wants_logprobs = true});
  std::string out;
  answer.begin({.model = *model, .prompt_tokens = 12}, out);
  EXPECT_EQ(out, "");
  const GeneratedToken token{.id = cat, .logprob = -0.5F, .top = {{cat, -0.5F}, {the, -2}}};
  TextProgress news;
  news.tokens = {&token, 1};
  answer.add(news, out);
  EXPECT_NE(out.find(R"("model":"acme/mean")"), std::string::npos) << out;
  EXPECT_NE(out.find(R"("logprobs":[{"token":)"), std::string::npos) << out;
  EXPECT_NE(out.find(R"("logprob":-0.5)"), std::string::npos) << out;
  EXPECT_NE(out.find("99,97,116"), std::string::npos) << out;  // "cat" in bytes
}

}  // namespace
}  // namespace alate::server
