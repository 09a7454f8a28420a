// What a body says that the text must look like, in the forms of several APIs.
#pragma once

#include <string_view>

#include "alate/output_format.h"
#include "formats/json.h"

namespace alate::server {

// All functions throw RequestError, naming the member. Schemas, expressions and grammars are read later, by the model.

/// response_format of OpenAI, with the forms that llama.cpp (json_object with a schema) and text-generation-inference
/// (json, regex, grammar with a value) add; structured_outputs and guided_json, guided_regex, guided_choice and
/// guided_grammar of vLLM; json_schema and grammar of llama.cpp. Refuses two of them at once.
OutputFormat read_output_format(const formats::Json& body);

/// One of OpenAI's formats, the schema beside the type as in Responses or in an object json_schema as in chat
/// completions. `name` is the member's, for messages.
OutputFormat read_response_format(const formats::Json& format, std::string_view name);

/// Ollama's format: "json", or a schema; empty text and null are none.
OutputFormat read_ollama_format(const formats::Json& format);

}  // namespace alate::server
