// Texts, or token ids instead of them, as the requests of several families have them under one key.
#pragma once

#include <string>

#include "formats/json.h"
#include "server/models/embed_service.h"

namespace alate::server {

/// Reads a string, a list of strings, a list of token ids, or a list of such lists into the request, and takes `name`
/// for what errors call it. Throws RequestError for lists of both kinds and for ids that no vocabulary has.
void read_inputs(const formats::Json& inputs, const std::string& name, EmbedRequest& request);

/// A list of token ids; `place` names it in errors: "input[3]".
std::vector<std::int32_t> read_token_ids(const formats::Json::Array& ids, const std::string& place);

}  // namespace alate::server
