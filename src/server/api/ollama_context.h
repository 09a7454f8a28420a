// What fits the context that a request to Ollama's routes asks for.
#pragma once

#include <cstddef>
#include <string>

#include "alate/generation.h"
#include "base/threads/cancellation.h"
#include "pipelines/generate/chat_request.h"
#include "server/api/ollama_options.h"

namespace alate::server {

/// The tokens that prompt and text may have together.
std::size_t context_of(const OllamaOptions& asked, const TextGenerator& generator);
/// Leaves the text the room that num_ctx has left after a prompt of so many tokens. Throws RequestError, too_long,
/// naming `parameter`, where there is none. The model's own context is not looked at: that is checked for all families.
void keep_within_context(const OllamaOptions& asked, std::size_t prompt_tokens, const std::string& parameter,
                         const TextGenerator& generator, GenerationOptions& options);

/// As pipelines::prepare_chat. Where the conversation is longer than the context and the request allows that, the
/// oldest messages are left out, as in Ollama: what is left begins with system messages and one of the user.
pipelines::TextPrompt prepare_within_context(const OllamaOptions& asked, const TextGenerator& generator,
                                             pipelines::ChatRequest request, GenerationOptions& options,
                                             base::Cancellation cancellation);

}  // namespace alate::server
