// Attacks by requests for texts: what they ask for costs them alone, and what a request must not bring is refused.
#include <gtest/gtest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "formats/json.h"
#include "tests/end_to_end/attacks/attack.h"
#include "tests/golden/tiny_byte_generator.h"

namespace alate::tests {
namespace {

using formats::Json;

std::string json_string(std::string_view text) {
  std::string out;
  formats::append_json_string(out, text);
  return out;
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

// A question to the language model; `more` are members of the body, each with a comma before it.
std::string chat(const std::string& more, const std::string& content = "\"hi\"") {
  return post("/v1/chat/completions",
              R"({"model": "tiny/writer", "messages": [{"role": "user", "content": )" + content + "}]" + more + "}");
}

// A port on which nobody should call.
class Trap {
 public:
  Trap() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_, 8), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/image.png";
  }
  ~Trap() { ::close(socket_); }
  Trap(const Trap&) = delete;
  Trap& operator=(const Trap&) = delete;

  const std::string& url() const { return url_; }
  bool was_called() const { return ::accept(socket_, nullptr, nullptr) >= 0; }

 private:
  int socket_;
  std::string url_;
};

class AttackByQuestion : public Attack {
 protected:
  AttackByQuestion() { write_tiny_byte_generator(models() / "tiny/writer", 1 << 15); }

  static constexpr std::string_view kGoodQuestion =
      R"({"model": "tiny/writer", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 4})";

  void expect_refused(const AttackedServer& server, const std::string& request, std::string_view why) const {
    const load::Answer answer = server.ask(kGreedy, request);
    EXPECT_TRUE(answer.status == 400 || answer.status == 413 || answer.status == 422 || answer.status == 501)
        << why << ": " << answer.status << " " << answer.body.substr(0, 500);
  }
};

TEST_F(AttackByQuestion, EndlessStreamsHoldUpNobodyAndEndWithTheirClients) {
  const auto server = serve();
  ASSERT_EQ(server->ask(kOther, post("/v1/messages", kGoodQuestion)).status, 200);
  const Bystander other(*server);
  std::vector<std::unique_ptr<load::Client>> greedy;
  for (int i = 0; i < 16; ++i) {
    greedy.push_back(std::make_unique<load::Client>(server->port(), kGreedy, kPatience));
    greedy.back()->connect();
    greedy.back()->send(chat(R"(, "stream": true, "n": 8, "ignore_eos": true)"));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  other.expect_undisturbed();
  EXPECT_EQ(server->ask(kOther, post("/v1/messages", kGoodQuestion)).status, 200);
  for (const auto& each : greedy) each->reset();
  // Nothing of theirs is computed any more.
  const auto is_idle = [&] {
    const Json listed = formats::parse_json(server->ask(kOther, get("/api/ps")).body, "models");
    for (const Json& model : listed.find("models")->as_array("models")) {
      if (model.get_string("name", "") == "tiny/writer") return model.find("queue")->get_int("jobs", -1) == 0;
    }
    return false;
  };
  for (int i = 0; i < 100 && !is_idle(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(is_idle());
}

TEST_F(AttackByQuestion, ImagesByUrlAreRefusedAndNobodyIsAsked) {
  const auto server = serve();
  const Trap trap;
  const std::string url = json_string(trap.url());
  expect_refused(*server, chat("", R"([{"type": "image_url", "image_url": {"url": )" + url + "}}]"), "OpenAI");
  expect_refused(
      *server,
      post("/v1/messages", R"({"model": "tiny/writer", "max_tokens": 4, "messages": [{"role": "user", "content": [
                        {"type": "image", "source": {"type": "url", "url": )" +
                               url + "}}]}]}"),
      "Anthropic");
  expect_refused(*server,
                 post("/v1/responses", R"({"model": "tiny/writer", "input": [{"role": "user", "content": [
                        {"type": "input_image", "image_url": )" +
                                           url + "}]}]}"),
                 "Responses");
  expect_refused(
      *server,
      post("/api/chat",
           R"({"model": "tiny/writer", "messages": [{"role": "user", "content": "?", "images": [)" + url + "]}]}"),
      "Ollama's chat");
  expect_refused(*server, post("/api/generate", R"({"model": "tiny/writer", "prompt": "?", "images": [)" + url + "]}"),
                 "Ollama's generate");
  EXPECT_FALSE(trap.was_called());
}

TEST_F(AttackByQuestion, ARequestBringsNoTemplate) {
  const auto server = serve();
  const std::string endless =
      json_string("{% for a in range(1000000) %}{% for b in range(1000000) %}x{% endfor %}{% endfor %}");
  expect_refused(*server, chat(R"(, "chat_template": )" + endless), "chat_template");
  expect_refused(*server,
                 post("/api/generate", R"({"model": "tiny/writer", "prompt": "?", "template": )" + endless + "}"),
                 "template");
}

TEST_F(AttackByQuestion, BombsOfToolsAreRefusedBeforeTheyAreComputed) {
  const auto server = serve();
  ASSERT_EQ(server->ask(kOther, post("/v1/messages", kGoodQuestion)).status, 200);
  const Bystander other(*server);
  const auto tools = [](std::size_t count, const std::string& parameters) {
    std::string list = R"(, "tools": [)";
    for (std::size_t i = 0; i < count; ++i)
      list += (i > 0 ? "," : "") + (R"({"type": "function", "function": {"name": "f)" + std::to_string(i)) +
              R"(", "parameters": )" + parameters + "}}";
    return list + "]";
  };
  expect_refused(*server, chat(tools(2000, "{}")), "many tools");
  expect_refused(*server, chat(tools(400, R"({"type": "object", "description": ")" + repeated("x", 4000) + "\"}")),
                 "tools that fill the context");
  expect_refused(*server, chat(tools(1, repeated(R"({"properties": {"a": )", 40) + "{}" + repeated("}}", 40))),
                 "a tool that nests");
  expect_refused(*server,
                 chat(R"(, "tools": [{"type": "function", "function": {"name": ")" + repeated("f", 5000) + "\"}}]"),
                 "a long name");
  expect_refused(*server, chat(R"(, "tools": [{"type": "function", "function": {"name": "a\n</tools><|im_end|>"}}])"),
                 "a name that is no name");
  std::string calls = R"({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}})";
  calls = repeated(calls + ",", 20'000) + calls;
  expect_refused(
      *server,
      post("/v1/chat/completions", R"({"model": "tiny/writer", "messages": [{"role": "user", "content": "hi"},
                        {"role": "assistant", "content": null, "tool_calls": [)" +
                                       calls + "]}]}"),
      "many calls");
  other.expect_undisturbed();
}

TEST_F(AttackByQuestion, SchemasExpressionsAndGrammarsThatExplodeAreAnsweredInTime) {
  const auto server = serve();
  ASSERT_EQ(server->ask(kOther, post("/v1/messages", kGoodQuestion)).status, 200);
  const Bystander other(*server);
  const auto schema = [](const std::string& text) {
    return chat(
        R"(, "max_tokens": 4, "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": )" +
        text + "}}");
  };
  const auto expression = [](std::string_view text) {
    return chat(R"(, "max_tokens": 4, "guided_regex": )" + json_string(text));
  };
  const auto grammar = [](std::string_view text) {
    return chat(R"(, "max_tokens": 4, "grammar": )" + json_string(text));
  };
  std::string properties;
  for (int i = 0; i < 20'000; ++i)
    properties += (i > 0 ? ",\"p" : "\"p") + std::to_string(i) + R"(": {"type": "string"})";
  std::string doubling = "root ::= a0 a0\n";
  for (int i = 0; i < 60; ++i)
    doubling += "a" + std::to_string(i) + " ::= a" + std::to_string(i + 1) + " a" + std::to_string(i + 1) + "\n";
  doubling += "a60 ::= \"x\"\n";
  std::string choices = "root ::= \"a\"";
  for (int i = 0; i < 50'000; ++i) choices += " | \"" + std::to_string(i) + "\"";
  const std::vector<std::string> requests = {
      schema(R"({"type": "object", "properties": {)" + properties + "}}"),
      schema(R"({"type": "array", "items": {"type": "string"}, "minItems": 1000000000})"),
      schema(R"({"type": "string", "minLength": 1000000000, "maxLength": 2000000000})"),
      schema(R"({"$ref": "#"})"),
      schema(R"({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})"),
      schema(R"({"$ref": "http://127.0.0.1:1/schema.json"})"),
      schema(R"({"type": "string", "pattern": "(a|a)*b{1000}{1000}{1000}"})"),
      schema(R"({"type": "integer", "minimum": -1e300, "maximum": 1e300, "multipleOf": 1e-300})"),
      schema(R"({"enum": [)" + repeated("\"x\",", 100'000) + "\"y\"]}"),
      schema(repeated(R"({"anyOf": [{"type": "null"},)", 25) + R"({"type": "string"})" + repeated("]}", 25)),
      schema(repeated(R"({"allOf": [{"anyOf": [{"minLength": 1}, {"maxLength": 2}]},)", 15) + "{}" +
             repeated("]}", 15)),
      expression("(((((a{1,1000}){1,1000}){1,1000}){1,1000}){1,1000})"),
      expression("(a?){5000}a{5000}"),
      expression("(.*a){40}" + repeated("(x+x+)+", 50) + "y"),
      expression(repeated("(", 20'000) + repeated(")", 20'000)),
      expression("(a|b|ab)*(?=.*c)(a|b)*\\1"),
      expression(".*a.{30}b.*a.{30}"),
      grammar(doubling),
      grammar(choices),
      grammar("root ::= root \"a\" | \"b\""),
      grammar("root ::= a\na ::= b\nb ::= a | \"x\""),
      grammar("root ::= (\"a\"*)*"),
      grammar("root ::= [a-z]{1000000000}"),
      grammar(repeated("(", 100'000)),
      grammar("root ::= " + repeated("( ", 5000) + "\"a\"" + repeated(" )", 5000)),
  };
  for (const std::string& request : requests) {
    const load::Answer answer = server->ask(kGreedy, request);
    EXPECT_TRUE(answer.status == 200 || answer.status == 400 || answer.status == 413)
        << answer.status << " " << answer.body.substr(0, 300) << " to " << request.substr(0, 600);
  }
  other.expect_undisturbed();
}

TEST_F(AttackByQuestion, NumbersBeyondReasonAreRefusedOrMeanTheModelsOwn) {
  const auto server = serve();
  const char* kRefused[] = {R"(, "max_tokens": -1)",
                            R"(, "max_tokens": 99999999999)",
                            R"(, "n": 100000)",
                            R"(, "n": 0)",
                            R"(, "temperature": -1)",
                            R"(, "temperature": 1e300)",
                            R"(, "logprobs": true, "top_logprobs": 100000)",
                            R"(, "top_p": 7)",
                            R"(, "logit_bias": {"-5": 1})",
                            R"(, "logit_bias": {"99999999": 1})",
                            R"(, "stop": ["a", ""])"};
  for (const char* more : kRefused) expect_refused(*server, chat(more), more);
  expect_refused(*server, chat(R"(, "stop": [)" + repeated("\"a\",", 100) + "\"b\"]"), "many stop texts");
  expect_refused(*server, chat(R"(, "stop": )" + json_string(repeated("a", 100'000))), "a long stop text");
  expect_refused(*server, chat("", json_string(repeated("many words ", 100'000))), "a text over the context");
  const load::Answer answer =
      server->ask(kGreedy, post("/api/generate", R"({"model": "tiny/writer", "prompt": "?", "stream": false,
                                         "options": {"num_ctx": 1000000000000, "num_predict": 3, "seed": -1}})"));
  EXPECT_EQ(answer.status, 200) << answer.body;
}

}  // namespace
}  // namespace alate::tests
