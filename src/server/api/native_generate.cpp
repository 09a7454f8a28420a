#include "server/api/native_generate.h"

#include <string>
#include <string_view>

#include "server/api/ollama_generate.h"
#include "server/api/openai_chat.h"
#include "server/api/route_schemas.h"
#include "server/exchange/refuse.h"
#include "server/schema/schema.h"

namespace alate::server {
namespace {

std::string either(std::string_view one, std::string_view other) {
  return R"({"anyOf":[)" + std::string(one) + "," + std::string(other) + "]}";
}

// The route's schema takes bodies of either shape; the errors of the shape that was meant say more.
void check(const Schema& schema, const formats::Json& body) {
  const auto violation = schema.check(body);
  if (!violation) return;
  refuse(Problem::Kind::invalid, violation->message, violation->place.substr(0, violation->place.find_first_of("[.")));
}

void generate(Call& call) {
  if (call.body.find_value("messages") == nullptr) {
    static const Schema schema = Schema::parse(route_schema(Family::ollama, "generate_body"));
    check(schema, call.body);
    return generate_as_ollama(call);
  }
  if (call.body.find_value("prompt") != nullptr)
    refuse(Problem::Kind::invalid, "messages and prompt are both given: give one of them", "messages");
  static const Schema schema = Schema::parse(route_schema(Family::openai, "chat_body"));
  check(schema, call.body);
  complete_chat(call);
}

}  // namespace

Route native_generate_route() {
  static const std::string body =
      either(route_schema(Family::openai, "chat_body"), route_schema(Family::ollama, "generate_body"));
  static const std::string answer =
      either(route_schema(Family::openai, "chat_answer"), route_schema(Family::ollama, "generate_answer"));
  return {.method = Method::post,
          .path = "/api/generate",
          .family = Family::native,
          .id = "generate",
          .summary = "Answers a conversation, or continues a text",
          .handle = generate,
          .body = body,
          .answers = {{.description = "To messages, the answer as OpenAI has it; to a prompt, as Ollama has it.",
                       .schema = answer},
                      {.description = "With a stream: of messages, chunks as server-sent events.",
                       .content_type = "text/event-stream",
                       .schema = route_schema(Family::openai, "stream_event")},
                      {.description = "With a stream, which a prompt has by default: a JSON object a line.",
                       .content_type = "application/x-ndjson",
                       .schema = route_schema(Family::ollama, "generate_answer")}},
          .computes = true,
          .aliases = {"/ai/v1/generate"}};
}

}  // namespace alate::server
