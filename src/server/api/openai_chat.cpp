#include "server/api/openai_chat.h"

#include <memory>
#include <utility>

#include "server/api/generation_options.h"
#include "server/api/openai_chat_answer.h"
#include "server/api/openai_conversation.h"
#include "server/api/openai_request.h"
#include "server/api/output_formats.h"
#include "server/api/route_schemas.h"
#include "server/models/generation_call.h"

namespace alate::server {

using formats::Json;

void complete_chat(Call& call) {
  const Json& body = call.body;
  GenerationRequest request = begin_generation(body, "messages");
  pipelines::ChatRequest conversation = read_conversation(body);
  conversation.format = read_output_format(body);
  const TextCounts counts = read_text_counts(body, request.streams);
  // Refuses values out of range before the model is loaded; they are set on top of its own later.
  GenerationOptions wanted;
  read_generation_options(body, wanted);
  const std::optional<std::int64_t> logprobs = read_chat_logprobs(body);

  OpenAiChatQuestion question{.model = request.model,
                              .n = counts.n,
                              .logprobs = logprobs.has_value(),
                              .include_usage = wants_usage(body),
                              .service_tier = service_tier_of(body),
                              .family = call.route.family};
  request.prepare = [members = generation_members(body), conversation = std::move(conversation), counts, logprobs](
                        const TextGenerator& generator, base::Cancellation cancellation) {
    WantedTexts texts{.prompts = {}, .options = generator.defaults(), .counts = counts};
    read_generation_options(members, texts.options);
    texts.options.sampling.logprobs = logprobs;
    texts.prompts.push_back(pipelines::prepare_chat(generator.state(), conversation, texts.options, cancellation));
    return texts;
  };
  run_generation(call, std::move(request), std::make_unique<OpenAiChatAnswer>(std::move(question)));
}

Route openai_chat_route() {
  return {.method = Method::post,
          .path = "/v1/chat/completions",
          .family = Family::openai,
          .id = "createChatCompletion",
          .summary = "Answers a conversation",
          .handle = complete_chat,
          .body = route_schema(Family::openai, "chat_body"),
          .answers = {{.description = "The answers.", .schema = route_schema(Family::openai, "chat_answer")},
                      {.description = "With stream: chunks of the answers, as server-sent events; [DONE] is the last.",
                       .content_type = "text/event-stream",
                       .schema = route_schema(Family::openai, "stream_event")}},
          .computes = true};
}

}  // namespace alate::server
