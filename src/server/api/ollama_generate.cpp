#include "server/api/ollama_generate.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "alate/error.h"
#include "pipelines/generate/generator_state.h"
#include "pipelines/generate/text_batch.h"
#include "server/api/ollama_answer.h"
#include "server/api/ollama_context.h"
#include "server/api/ollama_conversation.h"
#include "server/api/ollama_load.h"
#include "server/api/ollama_options.h"
#include "server/exchange/refuse.h"
#include "server/models/generation_call.h"

namespace alate::server {
namespace {

using formats::Json;

bool is_empty(const Json& value) {
  return (value.is_string() && value.as_string("").empty()) || (value.is_array() && value.as_array("").empty());
}

struct Refused {
  std::string_view member, reason;
};

constexpr Refused kRefused[] = {
    {"template", "is not taken: a model's own template writes its prompts; with raw the prompt is read as it is"},
    {"suffix", "is not taken: this server continues texts, and fills no gaps"},
    {"images", "is not read by this server: its models take text"},
    {"context", "is not taken: send the conversation as messages to /api/chat"},
};

void refuse_others(const Json& body) {
  for (const Refused& each : kRefused) {
    const Json* value = body.find_value(each.member);
    if (value == nullptr || is_empty(*value)) continue;
    refuse(Problem::Kind::unsupported, std::string(each.member) + " " + std::string(each.reason),
           std::string(each.member));
  }
}

// Whether the model knows conversations; others continue texts.
bool has_template(const TextGenerator& generator) {
  try {
    generator.state().dialect();
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    return false;
  }
}

// What a body asks for, until the model is there.
struct Asked {
  OllamaOptions options;
  pipelines::ChatRequest conversation;
  std::string prompt;
  bool is_raw = false, has_system = false;
};

void refuse_system(std::string_view why) {
  refuse(Problem::Kind::invalid, "system is given, " + std::string(why) + ": write it into the prompt", "system");
}

WantedTexts prepare(const Asked& asked, const TextGenerator& generator, base::Cancellation cancellation) {
  WantedTexts wanted{.prompts = {}, .options = generation_options(asked.options, generator), .counts = {}};
  pipelines::TextPrompt read;
  if (!asked.is_raw && has_template(generator)) {
    read = prepare_within_context(asked.options, generator, asked.conversation, wanted.options, cancellation);
  } else {
    if (asked.has_system) refuse_system("and the model has no chat template");
    wanted.options.format = asked.conversation.format;
    read.ids =
        pipelines::prompt_tokens(generator.state(), asked.prompt, wanted.options.add_special_tokens, cancellation);
  }
  keep_within_context(asked.options, read.ids.size(), "prompt", generator, wanted.options);
  wanted.prompts.push_back(std::move(read));
  return wanted;
}

}  // namespace

void generate_as_ollama(Call& call) {
  refuse_others(call.body);
  if (call.body.get_string("prompt", "").empty()) return load_as_ollama(call, false);
  GenerationRequest request = begin_ollama_request(call.body);
  request.parameter = "prompt";
  request.lone = true;
  Asked asked{.options = read_ollama_options(call.body),
              .conversation = read_ollama_prompt(call.body),
              .prompt = call.body.get_string("prompt", ""),
              .is_raw = call.body.get_bool("raw", false),
              .has_system = !call.body.get_string("system", "").empty()};
  if (asked.is_raw && asked.has_system) refuse_system("and raw takes the prompt as it is");
  OllamaQuestion question{.model = request.model, .wants_logprobs = asked.options.logprobs.has_value()};
  request.prepare = [asked = std::move(asked)](const TextGenerator& generator, base::Cancellation cancellation) {
    return prepare(asked, generator, cancellation);
  };
  run_generation(call, std::move(request), std::make_unique<OllamaAnswer>(std::move(question)));
}

}  // namespace alate::server
