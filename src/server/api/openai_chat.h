// POST /v1/chat/completions.
#pragma once

#include "server/exchange/route.h"

namespace alate::server {

/// Answers a body that fits the schema "chat_body" of OpenAI's routes. Errors in a stream have the shape of the route's
/// family, as all errors.
void complete_chat(Call& call);

Route openai_chat_route();

}  // namespace alate::server
