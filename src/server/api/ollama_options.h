// What Ollama's /api/generate and /api/chat have in common.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "alate/generation.h"
#include "formats/json.h"
#include "pipelines/generate/chat_request.h"
#include "server/models/generation_call.h"

namespace alate::server {

/// The members of a body that say how the text is generated.
struct OllamaOptions {
  formats::Json options;  // an object or null
  std::optional<std::int64_t> logprobs;
  std::optional<std::size_t> num_ctx;  // prompt and text together
  bool truncates = true;               // drops the oldest messages of a conversation that is longer
};

/// Throws RequestError for options of the wrong kind, naming them.
OllamaOptions read_ollama_options(const formats::Json& body);
/// The model's defaults with the request's options over them. Penalties count as Ollama's do: over the last 64 tokens,
/// those of the prompt too, unless the request says otherwise. Throws RequestError naming an option.
GenerationOptions generation_options(const OllamaOptions& asked, const TextGenerator& generator);
/// think and format.
void read_ollama_wishes(const formats::Json& body, pipelines::ChatRequest& request);

/// A request for a language model, with what the members of the body that all of them have say.
GenerationRequest begin_ollama_request(const formats::Json& body);

}  // namespace alate::server
