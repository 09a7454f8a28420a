#include "server/api/anthropic_answer.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "tests/unit/server/api/made_texts.h"
#include "tests/unit/server/route_testing.h"

namespace alate::server {
namespace {

using formats::Json;

AnthropicQuestion question() { return {.model = "acme/model", .max_tokens = 100, .stop_sequences = {"END"}}; }

// Without the random part of ids.
std::string without_ids(const std::string& text) {
  return std::regex_replace(text, std::regex("(msg|toolu)_[0-9A-Za-z]{24}"), "$1_ID");
}

// "NAME DATA" of each event.
std::vector<std::string> events_of(const std::string& stream) {
  std::vector<std::string> events;
  const std::regex event("event: ([a-z_]+)\ndata: (.*)\n\n");
  std::size_t bytes = 0;
  for (std::sregex_iterator found(stream.begin(), stream.end(), event), end; found != end; ++found) {
    events.push_back((*found)[1].str() + " " + without_ids((*found)[2].str()));
    bytes += static_cast<std::size_t>(found->length());
  }
  EXPECT_EQ(bytes, stream.size()) << "something else in " << stream;
  return events;
}

Json whole(MadeText text) {
  AnthropicAnswer answer(question());
  return formats::parse_json(answer.whole(one(std::move(text)), some_totals()).body, "the answer");
}

std::string text_of(const Json& value, std::string_view key) {
  return without_ids(formats::to_json_text(*value.find(key)));
}

TEST(AnthropicAnswer, AMessageHasABlockForEachKind) {
  const Json message = whole(made_text({reasoning_piece("so"), text_piece("Hello"), call_piece("find"),
                                        arguments_piece("{\"a\":"), arguments_piece("1}"), call_piece("stop", 1)}));
  EXPECT_EQ(text_of(message, "content"),
            R"([{"type":"thinking","thinking":"so","signature":""},{"type":"text","text":"Hello"},)"
            R"({"type":"tool_use","id":"toolu_ID","name":"find","input":{"a":1}},)"
            R"({"type":"tool_use","id":"toolu_ID","name":"stop","input":{}}])");
  EXPECT_EQ(text_of(message, "id"), R"("msg_ID")");
  EXPECT_EQ(text_of(message, "role"), R"("assistant")");
  EXPECT_EQ(text_of(message, "model"), R"("acme/model")");
  EXPECT_EQ(text_of(message, "stop_reason"), R"("tool_use")");
}

TEST(AnthropicAnswer, TokensFromTheCacheAreCountedApart) {
  EXPECT_EQ(text_of(whole(made_text({text_piece("a")})), "usage"),
            R"({"input_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":8,"output_tokens":3})");
}

TEST(AnthropicAnswer, SaysWhyATextEnded) {
  MadeText text = made_text({text_piece("a")});
  EXPECT_EQ(text_of(whole(text), "stop_reason"), R"("end_turn")");
  EXPECT_EQ(text_of(whole(text), "stop_sequence"), "null");
  text.generation.finish = FinishReason::stop_text;
  text.generation.stop_text = "END";
  EXPECT_EQ(text_of(whole(text), "stop_reason"), R"("stop_sequence")");
  EXPECT_EQ(text_of(whole(text), "stop_sequence"), R"("END")");
  text.generation.stop_text = "</tool_call>";  // of the model's format, not of the request
  EXPECT_EQ(text_of(whole(text), "stop_reason"), R"("end_turn")");
  text.generation.finish = FinishReason::length;
  EXPECT_EQ(text_of(whole(text), "stop_reason"), R"("model_context_window_exceeded")");
  text.generation.tokens.resize(100);
  EXPECT_EQ(text_of(whole(text), "stop_reason"), R"("max_tokens")");
}

TEST(AnthropicAnswer, ACallThatWasCutOffHasNoInputAndIsNoReason) {
  MadeText text = made_text({call_piece("find"), arguments_piece("{\"a\": ")}, 100);
  text.generation.finish = FinishReason::length;
  const Json message = whole(text);
  EXPECT_EQ(text_of(message, "content"), R"([{"type":"tool_use","id":"toolu_ID","name":"find","input":{}}])");
  EXPECT_EQ(text_of(message, "stop_reason"), R"("max_tokens")");
}

TEST(AnthropicAnswer, AStreamOpensAndClosesABlockForEachKind) {
  AnthropicAnswer answer(question());
  const auto events =
      events_of(stream_of(answer, made_text({reasoning_piece("so"), text_piece("He"), text_piece("llo\n"),
                                             call_piece("find"), arguments_piece("{\"a\":"), arguments_piece("1}")})));
  const std::vector<std::string> wanted = {
      R"(content_block_start {"type":"content_block_start","index":0,)"
      R"("content_block":{"type":"thinking","thinking":"","signature":""}})",
      R"(content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"so"}})",
      R"(content_block_stop {"type":"content_block_stop","index":0})",
      R"(content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}})",
      R"(content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"He"}})",
      R"(content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"llo\n"}})",
      R"(content_block_stop {"type":"content_block_stop","index":1})",
      R"(content_block_start {"type":"content_block_start","index":2,)"
      R"("content_block":{"type":"tool_use","id":"toolu_ID","name":"find","input":{}}})",
      R"(content_block_delta {"type":"content_block_delta","index":2,)"
      R"("delta":{"type":"input_json_delta","partial_json":"{\"a\":"}})",
      R"(content_block_delta {"type":"content_block_delta","index":2,)"
      R"("delta":{"type":"input_json_delta","partial_json":"1}"}})",
      R"(content_block_stop {"type":"content_block_stop","index":2})",
      R"(message_delta {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},)"
      R"("usage":{"input_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":8,"output_tokens":3}})",
      R"(message_stop {"type":"message_stop"})"};
  EXPECT_EQ(events, wanted);
}

TEST(AnthropicAnswer, AnErrorInTheMiddleIsAnEventAsAreSignsOfLife) {
  AnthropicAnswer answer(question());
  std::string out(answer.keep_alive());
  answer.add(progress(text_piece("a")), out);
  answer.fail(going_down(), out);
  const auto events = events_of(out);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events.front(), R"(ping {"type":"ping"})");
  EXPECT_EQ(events.back(), R"(error {"type":"error","error":{"type":"overloaded_error","message":"going down",)"
                           R"("param":null,"code":"service_unavailable"}})");
}

class AnthropicAnswerOfAModel : public ModelHostTest {
 protected:
  AnthropicAnswerOfAModel() { add("acme/mean"); }
};

TEST_F(AnthropicAnswerOfAModel, AStreamBeginsWithAnEmptyMessage) {
  const auto model = acquire("acme/mean").model();
  AnthropicAnswer answer({.max_tokens = 5});
  std::string out;
  answer.begin({.model = *model, .prompt_tokens = 12}, out);
  EXPECT_EQ(
      events_of(out),
      std::vector<std::string>{
          R"(message_start {"type":"message_start","message":{"id":"msg_ID","type":"message","role":"assistant",)"
          R"("model":"acme/mean","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,)"
          R"("cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}})"});
}

}  // namespace
}  // namespace alate::server
