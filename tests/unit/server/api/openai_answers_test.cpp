// Generated texts, which no model has made, in the shapes of OpenAI.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>
#include <string>
#include <vector>

#include "server/api/family_routes.h"
#include "server/api/openai_chat_answer.h"
#include "server/api/openai_completion_answer.h"
#include "server/api/openai_response_answer.h"
#include "server/schema/schema.h"
#include "tests/unit/server/api/made_texts.h"
#include "tests/unit/server/model_host_testing.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::int32_t kThe = 74, kCat = 75, kIng = 83;  // tokens of the model

// Without what differs from answer to answer.
std::string plain(std::string text) {
  text = std::regex_replace(text, std::regex("(chatcmpl-|cmpl-|call_|resp_|msg_|rs_|fc_)[0-9A-Za-z]{24}"), "$1ID");
  text = std::regex_replace(text, std::regex("\"created(_at)?\":[0-9]+"), "\"created$1\":0");
  return std::regex_replace(text, std::regex("\"system_fingerprint\":\"fp_[0-9a-f]+\""),
                            "\"system_fingerprint\":\"fp\"");
}

// What comes after "data: " of each event.
std::vector<std::string> data_of(const std::string& stream) {
  std::vector<std::string> all;
  std::size_t at = 0;
  while (at < stream.size()) {
    const std::size_t end = stream.find("\n\n", at);
    EXPECT_NE(end, std::string::npos) << stream;
    if (end == std::string::npos) break;
    std::string event = stream.substr(at, end - at);
    if (const std::size_t data = event.find("data: "); data != std::string::npos) all.push_back(event.substr(data + 6));
    at = end + 2;
  }
  return all;
}

void expect_documented(std::string_view id, const std::string& body) {
  for (const Route& route : openai_routes()) {
    if (route.id != id) continue;
    const auto violation = Schema::parse(route.answers.front().schema).check(formats::parse_json(body, "the answer"));
    EXPECT_FALSE(violation) << body << "\n" << violation->message;
    return;
  }
  ADD_FAILURE() << "there is no route " << id;
}

GeneratedToken token(std::int32_t id, float logprob = -0.5F) { return {id, logprob, {{kThe, -0.25F}}}; }

class OpenAiAnswers : public ModelHostTest {
 protected:
  OpenAiAnswers() {
    add("acme/model");
    model_ = acquire("acme/model").model();
  }
  GenerationStart start() const { return {.model = *model_, .prompt_tokens = 12}; }

  std::string whole(GenerationAnswer& answer, std::vector<MadeText> texts) const {
    std::string none;
    answer.begin(start(), none);
    return answer.whole(std::move(texts), some_totals()).body;
  }
  // A stream from its beginning to its end; each piece comes with the token beside it.
  std::string streamed(GenerationAnswer& answer, const MadeText& text) const {
    std::string out;
    answer.begin(start(), out);
    const std::vector<GeneratedToken>& tokens = text.generation.tokens;
    for (std::size_t i = 0; i < std::max(text.pieces.size(), tokens.size()); ++i) {
      TextProgress step;
      if (i < text.pieces.size()) step.pieces = std::span(text.pieces).subspan(i, 1);
      if (i < tokens.size()) step.tokens = std::span(tokens).subspan(i, 1);
      answer.add(step, out);
    }
    TextProgress last;
    last.done = &text;
    answer.add(last, out);
    answer.end(some_totals(), out);
    return out;
  }

 private:
  std::shared_ptr<HostedModel> model_;
};

constexpr const char* kUsage =
    R"({"prompt_tokens":12,"completion_tokens":3,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":8},)"
    R"("completion_tokens_details":{"reasoning_tokens":0}})";

TEST_F(OpenAiAnswers, AChatCompletion) {
  OpenAiChatAnswer answer({.n = 2});
  std::vector<MadeText> texts = one(made_text({text_piece("Hello")}));
  texts.push_back(made_text({text_piece("Hel")}));
  texts.back().generation.finish = FinishReason::length;
  const std::string body = whole(answer, std::move(texts));
  EXPECT_EQ(plain(body),
            R"({"id":"chatcmpl-ID","object":"chat.completion","created":0,"model":"acme/model",)"
            R"("system_fingerprint":"fp","choices":[{"index":0,"message":{"role":"assistant","content":"Hello",)"
            R"("refusal":null},"logprobs":null,"finish_reason":"stop"},{"index":1,"message":{"role":"assistant",)"
            R"("content":"Hel","refusal":null},"logprobs":null,"finish_reason":"length"}],"usage":)" +
                std::string(kUsage) + "}");
  expect_documented("createChatCompletion", body);
}

TEST_F(OpenAiAnswers, AChatCompletionWithReasoningAndToolCalls) {
  OpenAiChatAnswer answer({.model = "an-alias", .service_tier = "default"});
  const std::string body =
      whole(answer, one(made_text({reasoning_piece("so"), call_piece("find"), arguments_piece("{\"a\":"),
                                   arguments_piece("1}"), call_piece("stop", 1), arguments_piece("{}", 1)})));
  const Json made = formats::parse_json(plain(body), "the answer");
  EXPECT_EQ(made.get_string("model", ""), "an-alias");
  EXPECT_EQ(made.get_string("service_tier", ""), "default");
  const Json& choice = made.find("choices")->as_array("choices")[0];
  EXPECT_EQ(formats::to_json_text(*choice.find("message")),
            R"({"role":"assistant","content":null,"refusal":null,"reasoning_content":"so","tool_calls":[)"
            R"({"id":"call_ID","type":"function","function":{"name":"find","arguments":"{\"a\":1}"}},)"
            R"({"id":"call_ID","type":"function","function":{"name":"stop","arguments":"{}"}}]})");
  EXPECT_EQ(choice.get_string("finish_reason", ""), "tool_calls");
  expect_documented("createChatCompletion", body);
}

TEST_F(OpenAiAnswers, AStreamOfChatChunks) {
  OpenAiChatAnswer answer({.include_usage = true});
  const MadeText text =
      made_text({reasoning_piece("so"), text_piece("Hi \"you\"\n"), call_piece("find"), arguments_piece("{}")});
  const std::vector<std::string> events = data_of(plain(streamed(answer, text)));
  const std::string head = R"({"id":"chatcmpl-ID","object":"chat.completion.chunk","created":0,"model":"acme/model",)"
                           R"("system_fingerprint":"fp","choices":[)";
  const auto chunk = [&](const std::string& delta, const std::string& finish = "null") {
    return head + R"({"index":0,"delta":)" + delta + R"(,"logprobs":null,"finish_reason":)" + finish +
           R"(}],"usage":null})";
  };
  EXPECT_EQ(events, (std::vector<std::string>{
                        chunk(R"({"role":"assistant","content":""})"), chunk(R"({"reasoning_content":"so"})"),
                        chunk(R"({"content":"Hi \"you\"\n"})"),
                        chunk(R"({"tool_calls":[{"index":0,"id":"call_ID","type":"function","function":{"name":"find",)"
                              R"("arguments":""}}]})"),
                        chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]})"),
                        chunk("{}", "\"tool_calls\""), head + R"(],"usage":)" + kUsage + "}", "[DONE]"}));
}

TEST_F(OpenAiAnswers, AChatStreamShowsEachTokenOnce) {
  OpenAiChatAnswer answer({.logprobs = true});
  MadeText text = made_text({text_piece("the"), text_piece(" cat")});
  text.generation.tokens = {token(kThe), token(kCat, -std::numeric_limits<float>::infinity()), token(kIng)};
  std::string logprobs;
  for (const std::string& event : data_of(streamed(answer, text))) {
    if (event == "[DONE]") continue;
    const Json chunk = formats::parse_json(event, "a chunk");
    for (const Json& choice : chunk.find("choices")->as_array("choices"))
      if (const Json* found = choice.find_value("logprobs")) logprobs += formats::to_json_text(*found->find("content"));
  }
  const std::string top = R"("top_logprobs":[{"token":" the","logprob":-0.25,"bytes":[32,116,104,101]}]}])";
  EXPECT_EQ(logprobs, R"([{"token":" the","logprob":-0.5,"bytes":[32,116,104,101],)" + top +
                          R"([{"token":" cat","logprob":-9999,"bytes":[32,99,97,116],)" + top +
                          R"([{"token":"ing","logprob":-0.5,"bytes":[105,110,103],)" + top);
}

TEST_F(OpenAiAnswers, ReasoningTokensAreCounted) {
  OpenAiChatAnswer answer({});
  MadeText text = made_text({reasoning_piece("the cat"), text_piece("cat")});
  text.generation.text = "the cat cat";
  text.generation.tokens = {token(kThe), token(kCat), token(kCat)};
  const Json made = formats::parse_json(whole(answer, one(std::move(text))), "the answer");
  EXPECT_EQ(formats::to_json_text(*made.find("usage")->find("completion_tokens_details")), R"({"reasoning_tokens":2})");
}

TEST_F(OpenAiAnswers, AnErrorInTheMiddleOfAStreamHasTheFamilysShape) {
  OpenAiChatAnswer openai({});
  std::string out;
  openai.fail(going_down(), out);
  EXPECT_EQ(data_of(out), (std::vector<std::string>{R"({"error":{"message":"going down","type":"server_error",)"
                                                    R"("param":null,"code":"service_unavailable"}})",
                                                    "[DONE]"}));
  OpenAiChatAnswer native({.family = Family::native});
  out.clear();
  native.fail(going_down(), out);
  EXPECT_EQ(data_of(out).front(), R"({"error":"going down","code":"unavailable"})");
}

TEST_F(OpenAiAnswers, ACompletion) {
  OpenAiCompletionAnswer answer({});
  std::vector<MadeText> texts = one(made_text({text_piece("a"), text_piece("b")}));
  texts.push_back(made_text({}));
  const std::string body = whole(answer, std::move(texts));
  EXPECT_EQ(plain(body), R"({"id":"cmpl-ID","object":"text_completion","created":0,"model":"acme/model",)"
                         R"("system_fingerprint":"fp","choices":[{"text":"ab","index":0,"logprobs":null,)"
                         R"("finish_reason":"stop"},{"text":"","index":1,"logprobs":null,"finish_reason":"stop"}],)"
                         R"("usage":)" +
                             std::string(kUsage) + "}");
  expect_documented("createCompletion", body);
}

MadeText echoed() {
  MadeText text = made_text({text_piece("the cat"), text_piece("ing")});
  text.generation.prompt = {token(kThe), token(kCat)};
  text.generation.tokens = {token(kIng)};
  return text;
}

constexpr const char* kEchoed =
    R"({"tokens":[" the"," cat","ing"],"token_logprobs":[null,-0.5,-0.5],"top_logprobs":[null,)"
    R"({" the":-0.25," cat":-0.5},{" the":-0.25,"ing":-0.5}],"text_offset":[0,4,8]})";

TEST_F(OpenAiAnswers, ACompletionWithTheLogprobsOfItsPrompt) {
  OpenAiCompletionAnswer answer({.logprobs = true, .echo = true});
  const std::string body = whole(answer, one(echoed()));
  const Json made = formats::parse_json(body, "the answer");
  const Json& choice = made.find("choices")->as_array("choices")[0];
  EXPECT_EQ(choice.get_string("text", ""), "the cating");
  EXPECT_EQ(formats::to_json_text(*choice.find("logprobs")), kEchoed);
  expect_documented("createCompletion", body);
}

TEST_F(OpenAiAnswers, AStreamThatEchoesHasTheLogprobsAtItsEnd) {
  OpenAiCompletionAnswer answer({.logprobs = true, .echo = true});
  std::string text, logprobs;
  for (const std::string& event : data_of(streamed(answer, echoed()))) {
    if (event == "[DONE]") continue;
    const Json chunk = formats::parse_json(event, "a chunk");
    const Json& choice = chunk.find("choices")->as_array("choices")[0];
    text += choice.get_string("text", "");
    if (const Json* found = choice.find_value("logprobs")) logprobs += formats::to_json_text(*found);
  }
  EXPECT_EQ(text, "the cating");
  EXPECT_EQ(logprobs, kEchoed);
}

TEST_F(OpenAiAnswers, AStreamOfACompletion) {
  OpenAiCompletionAnswer answer({.logprobs = true, .include_usage = true});
  MadeText text = made_text({text_piece("the"), text_piece(" cat")});
  text.generation.tokens = {token(kThe), token(kCat)};
  const std::vector<std::string> events = data_of(plain(streamed(answer, text)));
  const std::string head = R"({"id":"cmpl-ID","object":"text_completion","created":0,"model":"acme/model",)"
                           R"("system_fingerprint":"fp","choices":[)";
  EXPECT_EQ(events,
            (std::vector<std::string>{
                head + R"({"text":"the","index":0,"logprobs":{"tokens":[" the"],"token_logprobs":[-0.5],)"
                       R"("top_logprobs":[{" the":-0.25}],"text_offset":[0]},"finish_reason":null}],"usage":null})",
                head + R"({"text":" cat","index":0,"logprobs":{"tokens":[" cat"],"token_logprobs":[-0.5],)"
                       R"("top_logprobs":[{" the":-0.25," cat":-0.5}],"text_offset":[4]},"finish_reason":null}],)"
                       R"("usage":null})",
                head + R"({"text":"","index":0,"logprobs":{"tokens":[],"token_logprobs":[],"top_logprobs":[],)"
                       R"("text_offset":[]},"finish_reason":"stop"}],"usage":null})",
                head + R"(],"usage":)" + kUsage + "}", "[DONE]"}));
}

constexpr const char* kResponseUsage =
    R"({"input_tokens":12,"input_tokens_details":{"cached_tokens":8},"output_tokens":3,)"
    R"("output_tokens_details":{"reasoning_tokens":0},"total_tokens":15})";

TEST_F(OpenAiAnswers, AResponse) {
  OpenAiResponseAnswer answer({.model = {}, .repeated = R"("store":false)"});
  const std::string body = whole(
      answer, one(made_text({reasoning_piece("so"), text_piece("Hello"), call_piece("find"), arguments_piece("{}")})));
  EXPECT_EQ(plain(body),
            R"({"id":"resp_ID","object":"response","created_at":0,"status":"completed","error":null,)"
            R"("incomplete_details":null,"model":"acme/model","output":[)"
            R"({"type":"reasoning","id":"rs_ID","status":"completed","summary":[],"content":[)"
            R"({"type":"reasoning_text","text":"so"}]},)"
            R"({"type":"message","id":"msg_ID","status":"completed","role":"assistant","content":[)"
            R"({"type":"output_text","text":"Hello","annotations":[],"logprobs":[]}]},)"
            R"({"type":"function_call","id":"fc_ID","status":"completed","call_id":"call_ID","name":"find",)"
            R"("arguments":"{}"}],"usage":)" +
                std::string(kResponseUsage) + R"(,"store":false})");
  expect_documented("createResponse", body);
}

TEST_F(OpenAiAnswers, AResponseThatWasCutOffIsIncomplete) {
  OpenAiResponseAnswer answer({.model = {}, .repeated = R"("store":false)"});
  MadeText text = made_text({});
  text.generation.finish = FinishReason::length;
  const Json made = formats::parse_json(whole(answer, one(std::move(text))), "the answer");
  EXPECT_EQ(made.get_string("status", ""), "incomplete");
  EXPECT_EQ(made.find("incomplete_details")->get_string("reason", ""), "max_output_tokens");
  EXPECT_EQ(made.find("output")->as_array("output")[0].get_string("status", ""), "incomplete");
}

// "TYPE: " and what an event has besides its type, number and whole response.
std::vector<std::string> events_of(const std::string& stream) {
  std::vector<std::string> all;
  std::int64_t number = 0;
  for (const std::string& data : data_of(stream)) {
    const Json event = formats::parse_json(data, "an event");
    EXPECT_EQ(event.get_int("sequence_number", -1), number++);
    const std::string type = event.get_string("type", "");
    EXPECT_NE(stream.find("event: " + type + "\ndata: {\"type\":\"" + type + "\","), std::string::npos);
    Json::Object rest;
    for (const auto& [name, value] : event.as_object("an event"))
      if (name != "type" && name != "sequence_number" && name != "response") rest.emplace_back(name, value);
    all.push_back(type + ": " + formats::to_json_text(Json(std::move(rest))));
  }
  return all;
}

TEST_F(OpenAiAnswers, AStreamOfAResponse) {
  OpenAiResponseAnswer answer({.model = {}, .repeated = R"("store":false)"});
  const MadeText text = made_text({text_piece("a"), text_piece("b"), call_piece("find"), arguments_piece("{}")});
  const std::string stream = plain(streamed(answer, text));
  const std::string message = R"("item_id":"msg_ID","output_index":0,"content_index":0)";
  const std::string call = R"("item_id":"fc_ID","output_index":1)";
  const std::string part = R"({"type":"output_text","text":"ab","annotations":[],"logprobs":[]})";
  EXPECT_EQ(events_of(stream),
            (std::vector<std::string>{
                "response.created: {}", "response.in_progress: {}",
                R"(response.output_item.added: {"output_index":0,"item":{"type":"message","id":"msg_ID",)"
                R"("status":"in_progress","role":"assistant","content":[]}})",
                "response.content_part.added: {" + message +
                    R"(,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}})",
                "response.output_text.delta: {" + message + R"(,"delta":"a","logprobs":[]})",
                "response.output_text.delta: {" + message + R"(,"delta":"b","logprobs":[]})",
                "response.output_text.done: {" + message + R"(,"text":"ab","logprobs":[]})",
                "response.content_part.done: {" + message + R"(,"part":)" + part + "}",
                R"(response.output_item.done: {"output_index":0,"item":{"type":"message","id":"msg_ID",)"
                R"("status":"completed","role":"assistant","content":[)" +
                    part + "]}}",
                R"(response.output_item.added: {"output_index":1,"item":{"type":"function_call","id":"fc_ID",)"
                R"("status":"in_progress","call_id":"call_ID","name":"find","arguments":""}})",
                "response.function_call_arguments.delta: {" + call + R"(,"delta":"{}"})",
                "response.function_call_arguments.done: {" + call + R"(,"name":"find","arguments":"{}"})",
                R"(response.output_item.done: {"output_index":1,"item":{"type":"function_call","id":"fc_ID",)"
                R"("status":"completed","call_id":"call_ID","name":"find","arguments":"{}"}})",
                "response.completed: {}"}));
  expect_documented("createResponse",
                    formats::to_json_text(*formats::parse_json(data_of(stream).back(), "an event").find("response")));
}

TEST_F(OpenAiAnswers, AResponsesReasoningHasEventsOfItsOwn) {
  OpenAiResponseAnswer answer({.model = {}, .repeated = R"("store":false)"});
  std::vector<std::string> types;
  for (const std::string& event : events_of(streamed(answer, made_text({reasoning_piece("so"), text_piece("a")}))))
    types.push_back(event.substr(0, event.find(':')));
  EXPECT_EQ(types, (std::vector<std::string>{
                       "response.created", "response.in_progress", "response.output_item.added",
                       "response.content_part.added", "response.reasoning_text.delta", "response.reasoning_text.done",
                       "response.content_part.done", "response.output_item.done", "response.output_item.added",
                       "response.content_part.added", "response.output_text.delta", "response.output_text.done",
                       "response.content_part.done", "response.output_item.done", "response.completed"}));
}

TEST_F(OpenAiAnswers, AResponseThatFails) {
  OpenAiResponseAnswer answer({.model = {}, .repeated = R"("store":false)"});
  std::string out;
  answer.begin(start(), out);
  answer.fail(going_down(), out);
  const Json event = formats::parse_json(data_of(out).back(), "an event");
  EXPECT_EQ(event.get_string("type", ""), "response.failed");
  EXPECT_EQ(formats::to_json_text(*event.find("response")->find("error")),
            R"({"code":"server_error","message":"going down"})");
  EXPECT_EQ(event.find("response")->get_string("status", ""), "failed");
}

TEST_F(OpenAiAnswers, AResponsesLogprobsAreThoseOfItsText) {
  OpenAiResponseAnswer answer({.model = {}, .repeated = R"("store":false)", .logprobs = true});
  MadeText text = made_text({text_piece("the"), text_piece(" cat")});
  text.generation.tokens = {token(kThe), token(kCat)};
  const Json last = formats::parse_json(data_of(streamed(answer, text)).back(), "an event");
  const Json& item = last.find("response")->find("output")->as_array("output")[0];
  const Json& part = item.find("content")->as_array("content")[0];
  EXPECT_EQ(part.find("logprobs")->as_array("logprobs").size(), 2U);
}

}  // namespace
}  // namespace alate::server
