#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/api/anthropic_answer.h"
#include "server/api/anthropic_conversation.h"
#include "server/api/background.h"
#include "server/api/family_routes.h"
#include "server/api/generation_options.h"
#include "server/api/openai_request.h"
#include "server/api/route_schemas.h"
#include "server/exchange/json_response.h"
#include "server/models/generation_call.h"
#include "server/models/touch_model.h"

namespace alate::server {
namespace {

using formats::Json;

AnthropicQuestion question_of(const Json& body) {
  AnthropicQuestion question{.model = body.get_string("model", ""), .max_tokens = body.get_int("max_tokens", 0)};
  if (const Json* stops = body.find_value("stop_sequences")) {
    for (const Json& stop : stops->as_array("stop_sequences"))
      question.stop_sequences.push_back(stop.as_string("stop_sequences"));
  }
  return question;
}

void create_message(Call& call) {
  // Refuses values out of range before the model is loaded; they are set on top of its own later.
  GenerationOptions checked;
  read_generation_options(call.body, checked);
  GenerationRequest request = begin_generation(call.body, "messages");
  request.prepare = [conversation = read_anthropic_conversation(call.body), members = generation_members(call.body)](
                        const TextGenerator& generator, base::Cancellation cancellation) {
    WantedTexts wanted{.prompts = {}, .options = generator.defaults(), .counts = {}};
    read_generation_options(members, wanted.options);
    wanted.prompts.push_back(pipelines::prepare_chat(generator.state(), conversation, wanted.options, cancellation));
    return wanted;
  };
  run_generation(call, std::move(request), std::make_unique<AnthropicAnswer>(question_of(call.body)));
}

void count_tokens(Call& call) {
  go_on_with_model(call, call.body.get_string("model", ""),
                   [conversation = read_anthropic_conversation(call.body)](Call& going_on, const HostedModel& model) {
                     const TextGenerator& generator = model.generator();
                     GenerationOptions options = generator.defaults();
                     const pipelines::TextPrompt prompt = pipelines::prepare_chat(
                         generator.state(), conversation, options, going_on.exchange->cancellation());
                     touch_model(*going_on.exchange, going_on.services.models, model, {});
                     const auto tokens = static_cast<std::int64_t>(prompt.ids.size());
                     going_on.exchange->reply(json_response(Json(Json::Object{{"input_tokens", tokens}})));
                   },
                   {.tasks = {pipelines::Task::generate}});
}

}  // namespace

std::vector<Route> anthropic_routes() {
  return {
      {.method = Method::post,
       .path = "/v1/messages",
       .family = Family::anthropic,
       .id = "createMessage",
       .summary = "Goes on with a conversation",
       .handle = create_message,
       .body = route_schema(Family::anthropic, "messages_body"),
       .answers = {{.description = "The message.", .schema = route_schema(Family::anthropic, "message")},
                   {.description = "With \"stream\": true server-sent events by which the message grows.",
                    .content_type = "text/event-stream",
                    .schema = route_schema(Family::anthropic, "event")}},
       .computes = true},
      {.method = Method::post,
       .path = "/v1/messages/count_tokens",
       .family = Family::anthropic,
       .id = "countMessageTokens",
       .summary = "How many tokens a conversation takes as a prompt",
       .handle = count_tokens,
       .body = route_schema(Family::anthropic, "count_body"),
       .answers = {{.description = "The number.", .schema = route_schema(Family::anthropic, "count_answer")}},
       .computes = true},
  };
}

}  // namespace alate::server
