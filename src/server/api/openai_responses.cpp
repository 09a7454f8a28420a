#include "server/api/openai_responses.h"

#include <memory>
#include <string>
#include <utility>

#include "server/api/background.h"
#include "server/api/generation_options.h"
#include "server/api/native.h"
#include "server/api/openai_request.h"
#include "server/api/openai_response_answer.h"
#include "server/api/openai_response_input.h"
#include "server/api/route_schemas.h"
#include "server/exchange/json_response.h"
#include "server/exchange/refuse.h"
#include "server/models/generation_call.h"
#include "server/models/services.h"
#include "server/models/touch_model.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::size_t kMostRepeated = std::size_t{1} << 20;  // bytes; a stream has them three times

// The members of a body that an answer repeats, with what they are where the body has none.
std::string repeated_members(const Json& body) {
  const auto given = [&](std::string_view name, Json otherwise) {
    const Json* value = body.find_value(name);
    return Json::Member(name, value != nullptr ? *value : std::move(otherwise));
  };
  Json::Object reasoning{{"effort", Json()}, {"summary", Json()}};
  if (const Json* asked = body.find_value("reasoning"))
    for (auto& [name, value] : reasoning)
      if (const Json* one = asked->find(name)) value = *one;
  const std::string tier = service_tier_of(body);
  const Json members = Json::Object{
      {"background", false},
      given("instructions", {}),
      given("max_output_tokens", {}),
      given("max_tool_calls", {}),
      given("metadata", Json::Object{}),
      given("parallel_tool_calls", true),
      {"previous_response_id", Json()},
      {"reasoning", Json(std::move(reasoning))},
      {"service_tier", tier.empty() ? "default" : tier},
      {"store", false},
      given("temperature", {}),
      given("text", Json::Object{{"format", Json::Object{{"type", "text"}}}}),
      given("tool_choice", "auto"),
      given("tools", Json::Array{}),
      given("top_logprobs", 0),
      given("top_p", {}),
      {"truncation", "disabled"},
      given("user", {}),
  };
  const std::string object = formats::to_json_text(members);
  if (object.size() > kMostRepeated)
    refuse(Problem::Kind::too_large,
           "the members that a response repeats, such as instructions, tools and metadata, have " +
               std::to_string(object.size()) + " bytes; they may have " + std::to_string(kMostRepeated));
  return object.substr(1, object.size() - 2);
}

// Log probabilities are wanted where the client includes them, or says of how many tokens.
std::optional<std::int64_t> read_logprobs(const Json& body) {
  bool is_included = false;
  if (const Json* include = body.find_value("include"))
    for (const Json& one : include->as_array("include"))
      is_included = is_included || one.as_string("include") == "message.output_text.logprobs";
  const std::int64_t top = body.get_int("top_logprobs", 0);
  return is_included || top > 0 ? std::optional(top) : std::nullopt;
}

decltype(GenerationRequest::prepare) prepare_response(const Json& body, std::optional<std::int64_t> logprobs) {
  // Refuses values out of range before the model is loaded; they are set on top of its own later.
  GenerationOptions wanted;
  read_generation_options(body, wanted);
  return [members = generation_members(body), conversation = read_response_input(body), logprobs](
             const TextGenerator& generator, base::Cancellation cancellation) {
    WantedTexts texts{.prompts = {}, .options = generator.defaults(), .counts = {}};
    read_generation_options(members, texts.options);
    texts.options.sampling.logprobs = logprobs;
    texts.prompts.push_back(
        pipelines::prepare_chat(generator.state(), conversation, texts.options, std::move(cancellation)));
    return texts;
  };
}

void create_response(Call& call) {
  const Json& body = call.body;
  GenerationRequest request = begin_generation(body, "input");
  const std::optional<std::int64_t> logprobs = read_logprobs(body);
  request.prepare = prepare_response(body, logprobs);
  OpenAiResponseQuestion question{
      .model = request.model, .repeated = repeated_members(body), .logprobs = logprobs.has_value()};
  run_generation(call, std::move(request), std::make_unique<OpenAiResponseAnswer>(std::move(question)));
}

void count_input_tokens(Call& call) {
  go_on_with_model(
      call, call.body.get_string("model", ""),
      [conversation = read_response_input(call.body)](Call& going_on, const HostedModel& model) {
        const TextGenerator& generator = model.generator();
        GenerationOptions options = generator.defaults();
        const pipelines::TextPrompt prompt =
            pipelines::prepare_chat(generator.state(), conversation, options, going_on.exchange->cancellation());
        touch_model(*going_on.exchange, going_on.services.models, model, read_keep_alive(going_on.body));
        going_on.exchange->reply(json_response(Json(Json::Object{
            {"object", "response.input_tokens"}, {"input_tokens", static_cast<std::int64_t>(prompt.ids.size())}})));
      },
      {.tasks = {pipelines::Task::generate}});
}

}  // namespace

std::vector<Route> openai_responses_routes() {
  return {{.method = Method::post,
           .path = "/v1/responses",
           .family = Family::openai,
           .id = "createResponse",
           .summary = "Answers a conversation, in the newer shape",
           .handle = create_response,
           .body = route_schema(Family::openai, "responses_body"),
           .answers = {{.description = "The response.", .schema = route_schema(Family::openai, "responses_answer")},
                       {.description = "With stream: events by which the response grows, as server-sent events.",
                        .content_type = "text/event-stream",
                        .schema = route_schema(Family::openai, "response_event")}},
           .computes = true},
          {.method = Method::post,
           .path = "/v1/responses/input_tokens",
           .family = Family::openai,
           .id = "countInputTokens",
           .summary = "How many tokens a conversation takes as a prompt",
           .handle = count_input_tokens,
           .body = route_schema(Family::openai, "responses_body"),
           .answers = {{.description = "The number.", .schema = route_schema(Family::openai, "input_tokens_answer")}},
           .computes = true}};
}

}  // namespace alate::server
