// Requests of Ollama's /api/chat and /api/generate as conversations for a model's template.
#pragma once

#include "formats/json.h"
#include "pipelines/generate/chat_request.h"

namespace alate::server {

/// The conversation of a body that fits the schema "chat_body". Calls of tools get ids where they have none, and a
/// tool's result without one is that of the first call of the tool before it that has none yet. Throws RequestError,
/// naming the place, for images.
pipelines::ChatRequest read_ollama_chat(const formats::Json& body);

/// That of a body that fits "generate_body": its system text and its prompt.
pipelines::ChatRequest read_ollama_prompt(const formats::Json& body);

}  // namespace alate::server
