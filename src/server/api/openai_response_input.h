// The conversation of a body of OpenAI's Responses: instructions, items, tools in the shape of that API.
#pragma once

#include "formats/json.h"
#include "pipelines/generate/chat_request.h"

namespace alate::server {

/// Of a body that fits the schema of Responses, all of it. Throws RequestError, naming the place in the body; refuses
/// by name what this server does not have: stored responses, built-in tools, parts that are not text.
pipelines::ChatRequest read_response_input(const formats::Json& body);

}  // namespace alate::server
