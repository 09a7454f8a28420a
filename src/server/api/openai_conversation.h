// The conversation of a body in OpenAI's shape of chat completions: messages, tools, and how the model is to answer.
#pragma once

#include "formats/json.h"
#include "pipelines/generate/chat_request.h"

namespace alate::server {

// All functions throw RequestError, naming the place in the body.

/// Of a body that fits the schema of chat completions: all of it but the format of the answer. Refuses by name what
/// this server does not read yet, such as images, and templates in the request.
pipelines::ChatRequest read_conversation(const formats::Json& body);

/// Messages whose content is text or parts of text; `name` is the list's.
formats::Json read_messages(const formats::Json& messages, const std::string& name);

/// OpenAI's effort, of which "none" is no reasoning. Null: as the template has it.
void read_reasoning_effort(const formats::Json* effort, const std::string& name, pipelines::ChatRequest& request);

/// A choice by name: "auto", "none", "required".
pipelines::ToolChoice tool_choice_of(std::string_view name);
/// Throws if the choice asks for a tool that is not among `tools`.
void check_tool_choice(const pipelines::ToolChoice& choice, const formats::Json& tools);

}  // namespace alate::server
