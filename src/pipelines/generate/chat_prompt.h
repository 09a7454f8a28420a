// The text that a conversation becomes.
#pragma once

#include <string>

#include "formats/json.h"
#include "pipelines/generate/chat_request.h"
#include "pipelines/generate/template_traits.h"

namespace alate::pipelines {

/// The conversation as the model's template writes it; `tools` are checked_tools'. What the template cannot write
/// stands in messages of the system and the user. Throws as checked_messages, prompt_variables and
/// ChatTemplate::render, and invalid_argument where the last message is to be continued and cannot be.
std::string chat_prompt(const ChatDialect& dialect, const ChatRequest& request, const formats::Json::Array& tools);

}  // namespace alate::pipelines
