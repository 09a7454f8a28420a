#include "server/api/ollama_chat.h"

#include <memory>
#include <utility>

#include "server/api/ollama_answer.h"
#include "server/api/ollama_context.h"
#include "server/api/ollama_conversation.h"
#include "server/api/ollama_load.h"
#include "server/api/ollama_options.h"
#include "server/api/route_schemas.h"
#include "server/models/generation_call.h"

namespace alate::server {
namespace {

using formats::Json;

void chat(Call& call) {
  const Json* messages = call.body.find_value("messages");
  if (messages == nullptr || messages->as_array("messages").empty()) return load_as_ollama(call, true);
  GenerationRequest request = begin_ollama_request(call.body);
  request.parameter = "messages";
  const OllamaOptions asked = read_ollama_options(call.body);
  request.prepare = [asked, conversation = read_ollama_chat(call.body)](const TextGenerator& generator,
                                                                        base::Cancellation cancellation) {
    WantedTexts wanted{.prompts = {}, .options = generation_options(asked, generator), .counts = {}};
    wanted.prompts.push_back(prepare_within_context(asked, generator, conversation, wanted.options, cancellation));
    keep_within_context(asked, wanted.prompts.front().ids.size(), "messages", generator, wanted.options);
    return wanted;
  };
  OllamaQuestion question{.model = request.model, .is_chat = true, .wants_logprobs = asked.logprobs.has_value()};
  run_generation(call, std::move(request), std::make_unique<OllamaAnswer>(std::move(question)));
}

}  // namespace

Route ollama_chat_route() {
  return {.method = Method::post,
          .path = "/api/chat",
          .family = Family::ollama,
          .id = "ollamaChat",
          .summary = "Goes on with a conversation",
          .handle = chat,
          .body = route_schema(Family::ollama, "chat_body"),
          .answers = {{.description = "The answer as it grows, a JSON object a line.",
                       .content_type = "application/x-ndjson",
                       .schema = route_schema(Family::ollama, "chat_answer")},
                      {.description = "With \"stream\": false one object.",
                       .schema = route_schema(Family::ollama, "chat_answer")}},
          .computes = true};
}

}  // namespace alate::server
