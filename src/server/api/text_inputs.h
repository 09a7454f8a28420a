// Texts, or token ids in their place, as several families accept them under one key.
#pragma once

#include <string>

#include "formats/json.h"
#include "server/models/embed_task.h"

namespace alate::server {

/// Reads a string, a list of strings, a list of token ids or a list of such lists into the request, and sets `name` as
/// the parameter that errors mention. Throws RequestError for mixed lists and for ids outside any vocabulary.
void read_inputs(const formats::Json& inputs, const std::string& name, EmbedRequest& request);

/// A list of token ids; `place` names it in errors: "input[3]".
std::vector<std::int32_t> read_token_ids(const formats::Json::Array& ids, const std::string& place);

}  // namespace alate::server
