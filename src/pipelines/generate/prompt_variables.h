// What a request says to a chat template besides messages and tools.
#pragma once

#include "alate/chat_template.h"
#include "formats/json.h"
#include "pipelines/generate/chat_request.h"

namespace alate::pipelines {

/// The template's variables: the request's own, and what asks for reasoning under the names that templates read. Throws
/// invalid_argument for variables whose names are no identifiers, or that would replace the conversation, the tools,
/// special tokens, or what a template is rendered with.
formats::Json::Object prompt_variables(const ChatRequest& request, const ChatTemplate& chat_template);

}  // namespace alate::pipelines
