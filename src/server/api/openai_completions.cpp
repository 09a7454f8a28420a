#include "server/api/openai_completions.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pipelines/generate/text_batch.h"
#include "server/api/generation_options.h"
#include "server/api/openai_completion_answer.h"
#include "server/api/openai_request.h"
#include "server/api/output_formats.h"
#include "server/api/route_schemas.h"
#include "server/api/text_inputs.h"
#include "server/exchange/refuse.h"
#include "server/models/generation_call.h"
#include "server/models/services.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::int64_t kUsualTokens = 16;  // of a completion that has no limit, as at OpenAI

// Texts, or their tokens.
struct Prompts {
  std::vector<std::string> texts = {};
  std::vector<std::vector<std::int32_t>> token_rows = {};
  bool lone = false;

  std::string place(std::size_t i) const { return lone ? "prompt" : "prompt[" + std::to_string(i) + "]"; }
};

Prompts read_prompts(const Json& body, std::size_t most) {
  EmbedRequest read;
  read_inputs(*body.find("prompt"), "prompt", read);
  Prompts prompts{std::move(read.texts), std::move(read.token_rows), read.lone};
  const std::size_t count = prompts.texts.size() + prompts.token_rows.size();
  if (count > most)
    refuse(Problem::Kind::too_many,
           "prompt has " + std::to_string(count) + " entries; this server takes " + std::to_string(most) +
               " in one request: send several",
           "prompt");
  return prompts;
}

void check_ids(const std::vector<std::int32_t>& ids, const std::string& place, const Tokenizer& tokenizer) {
  for (const std::int32_t id : ids)
    if (!tokenizer.id_to_token(id))
      refuse(Problem::Kind::invalid,
             place + " has " + std::to_string(id) + ", which is no token of the model's vocabulary", "prompt");
}

std::vector<pipelines::TextPrompt> encode(const Prompts& prompts, const TextGenerator& generator, bool with_special,
                                          const base::Cancellation& cancellation) {
  std::vector<pipelines::TextPrompt> made;
  for (std::size_t i = 0; i < prompts.token_rows.size(); ++i) {
    cancellation.check();
    check_ids(prompts.token_rows[i], prompts.place(i), generator.tokenizer());
    made.push_back({.ids = prompts.token_rows[i]});
  }
  for (std::size_t i = 0; i < prompts.texts.size(); ++i) {
    made.push_back({.ids = pipelines::prompt_tokens(generator.state(), prompts.texts[i], with_special, cancellation)});
    if (made.back().ids.empty())
      refuse(Problem::Kind::empty, prompts.place(i) + " has no tokens: give a text to be continued", "prompt");
  }
  return made;
}

void complete_text(Call& call) {
  const Json& body = call.body;
  if (!body.get_string("suffix", "").empty())
    refuse(Problem::Kind::unsupported, "suffix is not taken: this server continues texts, and fills no gaps", "suffix");
  GenerationRequest request = begin_generation(body, "prompt");
  Prompts prompts = read_prompts(body, call.services.settings.max_inputs);
  request.lone = prompts.lone;
  const OutputFormat format = read_output_format(body);
  const TextCounts counts = read_text_counts(body, request.streams);
  const bool echo = body.get_bool("echo", false);
  std::optional<std::int64_t> logprobs;
  if (const Json* value = body.find_value("logprobs")) logprobs = value->as_int("logprobs");
  // Refuses values out of range before the model is loaded; they are set on top of its own later.
  GenerationOptions wanted;
  read_generation_options(body, wanted);

  OpenAiCompletionQuestion question{
      .model = request.model, .logprobs = logprobs.has_value(), .echo = echo, .include_usage = wants_usage(body)};
  request.prepare = [members = generation_members(body), prompts = std::move(prompts), format, counts, echo, logprobs](
                        const TextGenerator& generator, const base::Cancellation& cancellation) {
    WantedTexts texts{.prompts = {}, .options = generator.defaults(), .counts = counts, .reads_prompts = echo};
    texts.options.stopping.max_tokens = kUsualTokens;
    read_generation_options(members, texts.options);
    texts.options.sampling.logprobs = logprobs;
    texts.options.format = format;
    texts.prompts = encode(prompts, generator, texts.options.add_special_tokens, cancellation);
    return texts;
  };
  run_generation(call, std::move(request), std::make_unique<OpenAiCompletionAnswer>(std::move(question)));
}

}  // namespace

Route openai_completions_route() {
  return {.method = Method::post,
          .path = "/v1/completions",
          .family = Family::openai,
          .id = "createCompletion",
          .summary = "Continues texts",
          .handle = complete_text,
          .body = route_schema(Family::openai, "completions_body"),
          .answers = {{.description = "The texts.", .schema = route_schema(Family::openai, "completions_answer")},
                      {.description = "With stream: parts of the texts, as server-sent events; [DONE] is the last.",
                       .content_type = "text/event-stream",
                       .schema = route_schema(Family::openai, "completions_chunk")}},
          .computes = true};
}

}  // namespace alate::server
