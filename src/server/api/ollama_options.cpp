#include "server/api/ollama_options.h"

#include <algorithm>
#include <utility>

#include "server/api/generation_options.h"
#include "server/api/native.h"
#include "server/api/ollama.h"
#include "server/api/output_formats.h"
#include "server/exchange/refuse.h"

namespace alate::server {
namespace {

using formats::Json;

// Ollama's default of repeat_last_n.
constexpr std::int64_t kPenaltyWindow = 64;

bool has_penalty(const Json& options) {
  return std::ranges::any_of(
      std::initializer_list<const char*>{"repeat_penalty", "presence_penalty", "frequency_penalty"},
      [&](const char* name) { return options.find_value(name) != nullptr; });
}

}  // namespace

OllamaOptions read_ollama_options(const Json& body) {
  OllamaOptions asked;
  if (const Json* options = body.find_value("options")) asked.options = *options;
  if (!asked.options.is_null()) {
    // Refuses values out of range before the model is loaded; they are set on top of its own later.
    GenerationOptions checked;
    read_generation_options(asked.options, checked, "options");
  }
  asked.logprobs = read_chat_logprobs(body);
  asked.truncates = body.get_bool("truncate", true);
  if (const Json* context = asked.options.find_value("num_ctx")) {
    if (!context->is_integer() || context->as_int("num_ctx") < 0)
      refuse(Problem::Kind::invalid, "options.num_ctx must be a number of tokens", "options");
    // 0 is Ollama's for the server's own.
    if (context->as_int("num_ctx") > 0) asked.num_ctx = static_cast<std::size_t>(context->as_int("num_ctx"));
  }
  return asked;
}

GenerationOptions generation_options(const OllamaOptions& asked, const TextGenerator& generator) {
  GenerationOptions options = generator.defaults();
  if (has_penalty(asked.options)) {
    options.sampling.penalize_prompt = true;
    options.sampling.penalty_window = kPenaltyWindow;
  }
  if (!asked.options.is_null()) read_generation_options(asked.options, options, "options");
  options.sampling.logprobs = asked.logprobs;
  return options;
}

void read_ollama_wishes(const Json& body, pipelines::ChatRequest& request) {
  if (const Json* think = body.find_value("think")) {
    request.thinks = !think->is_bool() || think->as_bool("think");
    // Templates know three levels.
    if (think->is_string()) request.reasoning_effort = think->as_string("think");
    if (request.reasoning_effort == "max") request.reasoning_effort = "high";
  }
  if (const Json* format = body.find_value("format")) request.format = read_ollama_format(*format);
}

GenerationRequest begin_ollama_request(const Json& body) {
  GenerationRequest request;
  request.model = ollama_model_of(body);
  request.keep_alive = read_keep_alive(body);
  request.streams = body.get_bool("stream", true);
  return request;
}

}  // namespace alate::server
