// Requests of Anthropic's messages API as conversations for a model's template.
#pragma once

#include "formats/json.h"
#include "pipelines/generate/chat_request.h"

namespace alate::server {

/// The conversation of a body that fits the schema "messages_body" or "count_body": system, messages, tools,
/// tool_choice, thinking and output_config. Turns of one role that follow each other become one, as Anthropic has it.
/// Throws RequestError, naming the place, for blocks and tools that are not read here (images, documents, tools that
/// Anthropic runs) and for results of tools that were not called.
pipelines::ChatRequest read_anthropic_conversation(const formats::Json& body);

}  // namespace alate::server
